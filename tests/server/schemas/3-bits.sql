PRAGMA application_id = 1684369001;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE invitation (survey TEXT, wave INTEGER, token_hash BLOB, used INTEGER NOT NULL,
    PRIMARY KEY (survey, wave, token_hash)) WITHOUT ROWID;
CREATE TABLE ledger (survey TEXT, respondent BLOB, terms BLOB, submissions INTEGER NOT NULL,
    charged INTEGER NOT NULL, PRIMARY KEY (survey, respondent, terms)) WITHOUT ROWID;
INSERT INTO "ledger" VALUES('panel',X'15542FBF250F89015CC270A51B2DE064',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',2,6577502);
INSERT INTO "ledger" VALUES('panel',X'316C65611069CB420AF59B80CDEBBA59',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',2,6577502);
INSERT INTO "ledger" VALUES('panel',X'72CC176589EAB76DB55513C43BC8CCDC',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',2,6577502);
INSERT INTO "ledger" VALUES('panel',X'84CBD35C97DFCEDCBBCAE1EA6482991B',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',1,3000000);
INSERT INTO "ledger" VALUES('panel',X'ADDAB6D450636BADE8E0D3C1EA2FA1FB',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',1,3000000);
INSERT INTO "ledger" VALUES('panel',X'C51E8BBDE19CAE5BE730F5C52AA85F03',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',1,3000000);
INSERT INTO "ledger" VALUES('panel',X'DCC2CC8690D6D0679D176E4FB208BCA9',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',2,6577502);
INSERT INTO "ledger" VALUES('panel',X'FB05222BD942EB6751B663BB4277D47F',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',1,3000000);
INSERT INTO "ledger" VALUES('panel',X'FD805A5803D564B517FC9728E58D5FB7',X'1D21B4031F728C533A6D934FA4B319656B64263663E09A57A5B0570C89CD64CF',2,6577502);
CREATE TABLE log (number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE report (survey TEXT, rid BLOB, version TEXT NOT NULL, wave INTEGER NOT NULL,
    payload TEXT NOT NULL, PRIMARY KEY (survey, rid)) WITHOUT ROWID;
INSERT INTO "report" VALUES('panel',X'049CF3CDFF49E9EABD70A55F18CA705C','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"2A","team":"AA"}');
INSERT INTO "report" VALUES('panel',X'0B6307D34047942F52612CB98A424E54','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"IA","team":"gA"}');
INSERT INTO "report" VALUES('panel',X'14D516CA8C274338611567A84D61EC0E','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'{"seen":"UA","team":"gA"}');
INSERT INTO "report" VALUES('panel',X'16BDCAD8093ED59948D46159047E9865','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"gA","team":"AA"}');
INSERT INTO "report" VALUES('panel',X'1EE98993A26E30D2415B4F9D17FF95A8','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'{"seen":"kA","team":"cA"}');
INSERT INTO "report" VALUES('panel',X'3BCF8F91162B6D8E1E43CB92AEB309B4','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"IA","team":"4A"}');
INSERT INTO "report" VALUES('panel',X'3F9683690AC7AFF51560D6F47F4CD2E5','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'{"seen":"uA","team":"YA"}');
INSERT INTO "report" VALUES('panel',X'524A687D0777BF9F8BFFB03BE01F6FB3','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"IA","team":"AA"}');
INSERT INTO "report" VALUES('panel',X'65B57553FDB64F8BEA78E98CB85358FB','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"IA","team":"IA"}');
INSERT INTO "report" VALUES('panel',X'69C21979E06A380A6D4998685544B1B9','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"yA","team":"IA"}');
INSERT INTO "report" VALUES('panel',X'AAF2B9AF20B2045A9FF159BA3501ED2F','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"8A","team":"YA"}');
INSERT INTO "report" VALUES('panel',X'B3EC1A661ABAAFA9DC42A1818C2CFFA9','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'{"seen":"CA","team":"YA"}');
INSERT INTO "report" VALUES('panel',X'D699EF106274839901BFEDDB5F4468F8','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"seen":"yA","team":"gA"}');
INSERT INTO "report" VALUES('panel',X'ED4EBCBFB6D8E2A1921A70EC9514C7EA','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'{"seen":"4A","team":"AA"}');
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE researcher (name TEXT PRIMARY KEY, role TEXT NOT NULL, secret TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE survey (id TEXT, version TEXT, place INTEGER NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (id, version)) WITHOUT ROWID;
INSERT INTO "survey" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'{"survey": {"id": "panel", "title": "At work", "questions": [{"id": "seen", "kind": "choices", "text": "What have you seen?", "required": false, "no_answer": true, "options": [{"id": "theft", "text": "Theft"}, {"id": "fraud", "text": "Fraud"}, {"id": "threats", "text": "Threats"}], "at_most": 2, "mechanism": {"name": "multihot"}, "epsilon": 2}, {"id": "team", "kind": "choice", "text": "Your team?", "required": false, "no_answer": true, "options": [{"id": "lab", "text": "Lab"}, {"id": "shop", "text": "Shop"}, {"id": "yard", "text": "Yard"}], "mechanism": {"name": "oue"}, "epsilon": 1, "epsilon_forever": 2, "memory": 2}], "privacy": {"cap": 40}}, "randomizers": {"seen": {"encoder": {"name": "multihot", "options": 3, "at_most": 2, "inputs": 5}, "channel": {"name": "bits", "inputs": 5, "one": 2837926994, "zero": 1457040302, "total": 4294967296}, "ratio": ["2857022561620722932196764473", "386655958160107684157002951"]}, "team": {"encoder": {"name": "onehot", "inputs": 4}, "channel": {"name": "bits", "inputs": 4, "one": 3450525472, "zero": 844441824, "total": 4294967296}, "ratio": ["52678322264275661", "19379271773652275"], "permanent": {"name": "bits", "inputs": 4, "one": 2147483648, "zero": 511972652, "total": 4294967296}, "forever": ["945748661", "127993163"]}}}');
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    symbol INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, symbol)) WITHOUT ROWID;
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'seen',0,0,5);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'seen',0,1,4);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'seen',0,2,5);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'seen',0,3,2);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'seen',0,4,3);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'seen',0,5,9);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'team',0,0,3);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'team',0,1,2);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'team',0,2,4);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',1,'team',0,4,9);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'seen',0,0,3);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'seen',0,1,2);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'seen',0,2,2);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'seen',0,3,3);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'seen',0,4,2);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'seen',0,5,5);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'team',0,0,1);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'team',0,1,3);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'team',0,2,3);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'team',0,3,1);
INSERT INTO "tally" VALUES('panel','97d4ac0e485abd6eb76aaac9e5d38911591e4a766fd5dcd02e748c791eb95690',2,'team',0,4,5);
CREATE TABLE throttle (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID;
CREATE TABLE wave (survey TEXT, wave INTEGER, state TEXT NOT NULL,
    PRIMARY KEY (survey, wave)) WITHOUT ROWID;
INSERT INTO "wave" VALUES('panel',1,'open');
INSERT INTO "wave" VALUES('panel',2,'open');
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
COMMIT;
