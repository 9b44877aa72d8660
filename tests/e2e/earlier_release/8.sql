PRAGMA application_id = 1684369001;
PRAGMA user_version = 8;
BEGIN TRANSACTION;
CREATE TABLE backed_up (survey TEXT, version TEXT, wave INTEGER, reports INTEGER NOT NULL,
    since TEXT NOT NULL, PRIMARY KEY (survey, version, wave)) WITHOUT ROWID;
CREATE TABLE backup (at TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE cell (survey TEXT, version TEXT, wave INTEGER, n INTEGER NOT NULL,
    shown INTEGER NOT NULL, next INTEGER NOT NULL, settled INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave)) WITHOUT ROWID;
INSERT INTO "cell" VALUES('fine-cap','',0,1,0,0,0);
INSERT INTO "cell" VALUES('fine-cap','d9a8145ca15d1fbc54c06ad9437c18c180d03f57e1d9d02853afa7839edd241c',1,1,0,0,0);
INSERT INTO "cell" VALUES('noise-and-memory','',0,1,0,0,0);
INSERT INTO "cell" VALUES('noise-and-memory','8cce15b07d503d08730daf51464deb41e9567e62d41fefdc8e4207914cf65b80',1,1,0,0,0);
INSERT INTO "cell" VALUES('noise-with-delta','',0,2,0,0,0);
INSERT INTO "cell" VALUES('noise-with-delta','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',1,1,0,0,0);
INSERT INTO "cell" VALUES('noise-with-delta','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',2,1,0,0,0);
INSERT INTO "cell" VALUES('stable-with-skips','',0,3,0,0,0);
INSERT INTO "cell" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',1,1,0,0,0);
INSERT INTO "cell" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',2,1,0,0,0);
INSERT INTO "cell" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',3,1,0,0,0);
CREATE TABLE correction (survey TEXT, question TEXT, before TEXT, after TEXT,
    PRIMARY KEY (survey, question, before, after)) WITHOUT ROWID;
CREATE TABLE draft (id TEXT PRIMARY KEY, imported TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE draft_file (draft TEXT, name TEXT, content BLOB NOT NULL,
    PRIMARY KEY (draft, name)) WITHOUT ROWID;
CREATE TABLE draft_version (draft TEXT, number INTEGER, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, toml TEXT NOT NULL, PRIMARY KEY (draft, number)) WITHOUT ROWID;
CREATE TABLE invitation (survey TEXT, wave INTEGER, token_hash BLOB, used INTEGER NOT NULL,
    PRIMARY KEY (survey, wave, token_hash)) WITHOUT ROWID;
INSERT INTO "invitation" VALUES('noise-and-memory',1,X'148EDD26607EAB84946CE28B5446F501499B07AC66ABDA0E7534F75432E22FAF',1);
INSERT INTO "invitation" VALUES('noise-and-memory',1,X'EE9D5D443110A0E464632F452DA3D64B61A2C2D908177F55AE39654CF9B09877',0);
INSERT INTO "invitation" VALUES('noise-and-memory',2,X'148EDD26607EAB84946CE28B5446F501499B07AC66ABDA0E7534F75432E22FAF',0);
INSERT INTO "invitation" VALUES('noise-and-memory',2,X'EE9D5D443110A0E464632F452DA3D64B61A2C2D908177F55AE39654CF9B09877',0);
CREATE TABLE ledger (survey TEXT, respondent BLOB, terms BLOB, submissions INTEGER NOT NULL,
    charged INTEGER NOT NULL, PRIMARY KEY (survey, respondent, terms)) WITHOUT ROWID;
INSERT INTO "ledger" VALUES('fine-cap',X'FA48075FDD60296E40C9665806EF6FD9',X'F3DF8DE2F499AE6F84BB7CEC9C4B8353923C438008396BF569290AEDF3C20690',1,1000000);
INSERT INTO "ledger" VALUES('noise-and-memory',X'16F80966A6DEA7183B815B764B988228',X'DB02FEE0DCFB6888B48D128F8B7EA8EDFE824780C094A54EDA44C78656DB8DC0',1,2500000);
INSERT INTO "ledger" VALUES('noise-with-delta',X'1C2870A8F30F702D940BE5805F489608',X'CF0807E6440882D2D5606E6F054DCDD86A7240CFD70D4F2A8EF371BB543B4313',2,2000);
INSERT INTO "ledger" VALUES('stable-with-skips',X'5741DE41744F99E448138833E005DCB6',X'DD7A73409A4A1C6A1CE6E965C0C8EA8FDD4F9C7D5050FB16C743AF213A4B9654',3,1912359);
CREATE TABLE log (number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "log" VALUES(1,'2026-11-28T08:20:25Z','root, command line','invite','noise-and-memory, wave 1, 2','8df67bfdd995b1170033e0a6618a03f0a946b12a8f4e389fdae91cbccad44837');
CREATE TABLE report (survey TEXT, rid BLOB, version TEXT NOT NULL, wave INTEGER NOT NULL,
    payload TEXT NOT NULL, PRIMARY KEY (survey, rid)) WITHOUT ROWID;
INSERT INTO "report" VALUES('fine-cap',X'D6A6905C7BD2081B361680671EF08AA8','d9a8145ca15d1fbc54c06ad9437c18c180d03f57e1d9d02853afa7839edd241c',1,'{"meat":1}');
INSERT INTO "report" VALUES('noise-and-memory',X'F7B8742410A768C2CE910A52B3B9A152','8cce15b07d503d08730daf51464deb41e9567e62d41fefdc8e4207914cf65b80',1,'{"born-here":0,"hours":6,"union":0}');
INSERT INTO "report" VALUES('noise-with-delta',X'4F08A38EF1961C068D48F642EACA04B7','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',1,'{"hours":0}');
INSERT INTO "report" VALUES('noise-with-delta',X'63292658FFDAC135FE6BF06893E4E38C','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',2,'{"hours":2}');
INSERT INTO "report" VALUES('stable-with-skips',X'12B035307D50618A5F02F5A6FFDB15B1','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',2,'{"born-here":2}');
INSERT INTO "report" VALUES('stable-with-skips',X'3A9EC48EF7AEB1D669FFEA19202FB0F0','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',3,'{"born-here":0}');
INSERT INTO "report" VALUES('stable-with-skips',X'C0B5A4247E5D18A084B7251250A74B12','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',1,'{"born-here":1}');
CREATE TABLE report_size (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, block)) WITHOUT ROWID;
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE researcher (name TEXT PRIMARY KEY, role TEXT NOT NULL, secret TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE respondent_total (survey TEXT, answered TEXT, charged INTEGER,
    respondents INTEGER NOT NULL, PRIMARY KEY (survey, answered, charged)) WITHOUT ROWID;
INSERT INTO "respondent_total" VALUES('fine-cap','[["f3df8de2f499ae6f84bb7cec9c4b8353923c438008396bf569290aedf3c20690",1]]',1000000,1);
INSERT INTO "respondent_total" VALUES('noise-and-memory','[["db02fee0dcfb6888b48d128f8b7ea8edfe824780c094a54eda44c78656db8dc0",1]]',2500000,1);
INSERT INTO "respondent_total" VALUES('noise-with-delta','[["cf0807e6440882d2d5606e6f054dcdd86a7240cfd70d4f2a8ef371bb543b4313",2]]',2000,1);
INSERT INTO "respondent_total" VALUES('stable-with-skips','[["dd7a73409a4a1c6a1ce6e965c0c8ea8fdd4f9c7d5050fb16c743af213a4b9654",3]]',1912359,1);
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE setup (hash BLOB PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,
    until REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE simulated (survey TEXT, version TEXT, wave INTEGER, taken INTEGER,
    reports INTEGER NOT NULL, PRIMARY KEY (survey, version, wave, taken)) WITHOUT ROWID;
CREATE TABLE snapshot (survey TEXT, version TEXT, wave INTEGER, taken INTEGER, what TEXT,
    question TEXT, cohort INTEGER, block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, taken, what, question, cohort, block)) WITHOUT ROWID;
CREATE TABLE study (survey TEXT PRIMARY KEY, planned INTEGER, state TEXT NOT NULL,
    opens TEXT, closes TEXT, trial INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE survey (id TEXT, version TEXT, place INTEGER NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (id, version)) WITHOUT ROWID;
INSERT INTO "survey" VALUES('fine-cap','d9a8145ca15d1fbc54c06ad9437c18c180d03f57e1d9d02853afa7839edd241c',1,'{"survey": {"id": "fine-cap", "title": "Canteen", "questions": [{"id": "meat", "kind": "yes-no", "text": "Do you eat meat?", "required": true, "no_answer": false, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "mechanism": {"name": "krr"}, "epsilon": 1}], "privacy": {"cap": 1.9999999999}}, "randomizers": {"meat": {"encoder": {"name": "index", "inputs": 2}, "channel": {"name": "window", "inputs": 2, "width": 1, "near": 3139867869, "far": 1155092837}, "ratio": ["3139867869", "1155092837"]}}}');
INSERT INTO "survey" VALUES('noise-and-memory','8cce15b07d503d08730daf51464deb41e9567e62d41fefdc8e4207914cf65b80',1,'{"survey": {"id": "noise-and-memory", "title": "Work and origin", "access": "panel", "questions": [{"id": "hours", "kind": "number", "text": "How many hours did you work last week?", "required": true, "no_answer": false, "min": 0, "max": 80, "mechanism": {"name": "gaussian", "steps": 10}, "delta": 1e-06, "epsilon": 1}, {"id": "born-here", "kind": "yes-no", "text": "Were you born in this country?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 1, "epsilon_forever": 2, "stable": true, "mechanism": {"name": "krr"}, "memory": 2}, {"id": "union", "kind": "yes-no", "text": "Are you a member of a union?", "required": true, "no_answer": false, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 0.5, "epsilon_forever": 1, "stable": true, "mechanism": {"name": "krr"}, "memory": 2}], "privacy": {"cap": 12.3456789}}, "randomizers": {"hours": {"encoder": {"name": "grid", "steps": 10, "inputs": 11}, "channel": {"name": "shift", "inputs": 11, "noise": [819042904, 111929197, 120298714, 128201811, 135469931, 141940797, 147464385, 151908693, 155164971, 157152147, 157820179, 157152147, 155164971, 151908693, 147464385, 141940797, 135469931, 128201811, 120298714, 111929197, 819042904]}, "ratio": ["848456353", "312129649"], "delta": ["1337890202009", "1340586629260755071"]}, "born-here": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 2964027256, "far": 665469278}, "ratio": ["2656859400864623937", "977403951661214533"], "permanent": {"name": "window", "inputs": 3, "width": 1, "near": 3380066765, "far": 457442293}, "forever": ["3380066765", "457442293"]}, "union": {"encoder": {"name": "index", "inputs": 2}, "channel": {"name": "window", "inputs": 2, "width": 1, "near": 3285631071, "far": 1009332347}, "ratio": ["5741159996696528069", "3482189560312198485"], "permanent": {"name": "window", "inputs": 2, "width": 1, "near": 3139867869, "far": 1155092837}, "forever": ["3139867869", "1155092837"]}}}');
INSERT INTO "survey" VALUES('noise-with-delta','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',1,'{"survey": {"id": "noise-with-delta", "title": "Hours and debts", "questions": [{"id": "hours", "kind": "number", "text": "How many hours did you work last week?", "required": true, "no_answer": false, "min": 0, "max": 80, "mechanism": {"name": "gaussian"}, "delta": 0.01, "epsilon": 0.001}], "privacy": {"cap": 0.2}}, "randomizers": {"hours": {"encoder": {"name": "grid", "steps": 2, "inputs": 3}, "channel": {"name": "shift", "inputs": 3, "noise": [2113685822, 22531233, 22533182, 22531233, 2113685822]}, "ratio": ["12006001", "11994001"], "delta": ["73591201244345", "7359120285030756"]}}}');
INSERT INTO "survey" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',1,'{"survey": {"id": "stable-with-skips", "title": "Origin", "questions": [{"id": "born-here", "kind": "yes-no", "text": "Were you born in this country?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 1, "epsilon_forever": 2, "stable": true, "mechanism": {"name": "krr"}, "memory": 2}], "privacy": {"cap": 2}}, "randomizers": {"born-here": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 2964027256, "far": 665469278}, "ratio": ["2656859400864623937", "977403951661214533"], "permanent": {"name": "window", "inputs": 3, "width": 1, "near": 3380066765, "far": 457442293}, "forever": ["3380066765", "457442293"]}}}');
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    block INTEGER, counts BLOB NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, block)) WITHOUT ROWID;
INSERT INTO "tally" VALUES('fine-cap','d9a8145ca15d1fbc54c06ad9437c18c180d03f57e1d9d02853afa7839edd241c',1,'meat',0,0,X'00000000000000000100000000000000');
INSERT INTO "tally" VALUES('noise-and-memory','8cce15b07d503d08730daf51464deb41e9567e62d41fefdc8e4207914cf65b80',1,'born-here',0,0,X'0100000000000000');
INSERT INTO "tally" VALUES('noise-and-memory','8cce15b07d503d08730daf51464deb41e9567e62d41fefdc8e4207914cf65b80',1,'hours',0,0,X'0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000100000000000000');
INSERT INTO "tally" VALUES('noise-and-memory','8cce15b07d503d08730daf51464deb41e9567e62d41fefdc8e4207914cf65b80',1,'union',0,0,X'0100000000000000');
INSERT INTO "tally" VALUES('noise-with-delta','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',1,'hours',0,0,X'0100000000000000');
INSERT INTO "tally" VALUES('noise-with-delta','4f21da28a96bc4254dcce0026d3a7c915849924a504b07bdbc1c441fcf577c2c',2,'hours',0,0,X'000000000000000000000000000000000100000000000000');
INSERT INTO "tally" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',1,'born-here',0,0,X'00000000000000000100000000000000');
INSERT INTO "tally" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',2,'born-here',0,0,X'000000000000000000000000000000000100000000000000');
INSERT INTO "tally" VALUES('stable-with-skips','5df3bf702d43b7c2854413f419bea02c0da4be0fd8a6012a48ab6682e0dc7f5c',3,'born-here',0,0,X'0100000000000000');
CREATE TABLE throttle (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID;
CREATE TABLE total_snapshot (survey TEXT, taken INTEGER, answered TEXT, charged INTEGER,
    respondents INTEGER NOT NULL, PRIMARY KEY (survey, taken, answered, charged)) WITHOUT ROWID;
CREATE TABLE wave (survey TEXT, wave INTEGER, state TEXT NOT NULL,
    PRIMARY KEY (survey, wave)) WITHOUT ROWID;
INSERT INTO "wave" VALUES('fine-cap',1,'closed');
INSERT INTO "wave" VALUES('fine-cap',2,'open');
INSERT INTO "wave" VALUES('noise-and-memory',1,'closed');
INSERT INTO "wave" VALUES('noise-and-memory',2,'open');
INSERT INTO "wave" VALUES('noise-with-delta',1,'closed');
INSERT INTO "wave" VALUES('noise-with-delta',2,'open');
INSERT INTO "wave" VALUES('stable-with-skips',1,'closed');
INSERT INTO "wave" VALUES('stable-with-skips',2,'closed');
INSERT INTO "wave" VALUES('stable-with-skips',3,'open');
CREATE TABLE work (key TEXT PRIMARY KEY, number INTEGER NOT NULL, survey TEXT NOT NULL,
    asked TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, part REAL NOT NULL,
    result TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
COMMIT;
