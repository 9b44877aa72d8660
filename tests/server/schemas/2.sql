PRAGMA application_id = 1684369001;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE invitation (survey TEXT, wave INTEGER, token_hash BLOB, used INTEGER NOT NULL,
    PRIMARY KEY (survey, wave, token_hash)) WITHOUT ROWID;
INSERT INTO "invitation" VALUES('canteen',1,X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',0);
INSERT INTO "invitation" VALUES('canteen',1,X'0102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F20',0);
CREATE TABLE ledger (survey TEXT, respondent BLOB, version TEXT, wave INTEGER,
    submissions INTEGER NOT NULL, charged INTEGER NOT NULL,
    PRIMARY KEY (survey, respondent, version, wave)) WITHOUT ROWID;
INSERT INTO "ledger" VALUES('canteen',X'0DBE158E50D27E001D97DFB11CA600B3','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'1424A9A84C5A913F9B9F56AA33AC0F59','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'266F9640C8F2DFF95FB0FE4138FB4205','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'333EB992BFDB231C5C65C5CFB4A92A97','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'4409AF3189453329F6757A2B310E2D81','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'4B4E4CFB0452683DA7C9E8889B220CE4','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'6894C8646F9056169BF303AD21623E84','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'6EA1EB1F53AA25A078E2092EB9ACE686','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'79D12A97CD86A849A6BF51CD0B26B138','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'8031B26AB156083D9CA261ECE9374BE1','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'893459B29CD9F6A7A6E9B3DF116C9542','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'8998650652392315EA1BC1D69FC08F4D','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'8B641FE3FC271C2DCC8CE23C78DC6232','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'944A00C1BA77217ADB8B85195A75BC1F','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'9C6AD1D5DD294C845FDCC8AB5DB2D8DD','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'AAEEBF3784F5EBDB669C909CCD3FC466','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'C14AEC3D36B432F1232DE080599BFEE2','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'C6FF292000226E3E4663F41F8C08327F','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'D3CB52CBCFB9F20A197D348DF28306EB','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'D4D55F5954DF64ADFB470EFCF756B946','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'DE66106C32514602ED1F4D379E13D02A','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'E1D8952CD54E78F524C9613315797BBF','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'E7500D2F4BB953E1673251F56C73B3C5','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'F6CAEB75C0DFB53A141F9F31A584BB79','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
INSERT INTO "ledger" VALUES('canteen',X'FA84EFF5499A0032652FED58693A814F','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,1,4000000);
CREATE TABLE log (number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "log" VALUES(1,'2026-01-01T00:00:00Z','ada','publish','canteen','4674af0f30d4c9ae9742164f8a491e31a9e79c0dfb44c9ae2d13412ebb52b096');
CREATE TABLE report (survey TEXT, rid BLOB, version TEXT NOT NULL, wave INTEGER NOT NULL,
    payload TEXT NOT NULL, PRIMARY KEY (survey, rid)) WITHOUT ROWID;
INSERT INTO "report" VALUES('canteen',X'07BC10A5DDBEC9AAF013F87ABFAF8A3F','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":0,"price":2}');
INSERT INTO "report" VALUES('canteen',X'0CBF659782FE1E81184B103DFBB19F14','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":2,"price":10}');
INSERT INTO "report" VALUES('canteen',X'1F7A261E18D962FC5E36247CCEFD4EF5','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":2,"meat":0,"price":11}');
INSERT INTO "report" VALUES('canteen',X'1F8B60A89499F8C834001BD54F5A5C5A','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":2,"price":8}');
INSERT INTO "report" VALUES('canteen',X'3B6E58E7B224AEF579957FC2F9C39E27','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":0,"price":3}');
INSERT INTO "report" VALUES('canteen',X'4225F4FEBFA33FF07A688B8AFE7E81F6','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":1,"price":12}');
INSERT INTO "report" VALUES('canteen',X'52A579D5B8DD5FF1078A872BEB59EEA7','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":0,"meat":1,"price":0}');
INSERT INTO "report" VALUES('canteen',X'5620B76C38A193402463DD8982C4526A','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":2,"meat":1,"price":5}');
INSERT INTO "report" VALUES('canteen',X'5C51DB477D0B2A9A70ED8E4698F65272','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":1,"price":0}');
INSERT INTO "report" VALUES('canteen',X'5C72F29AF8ABF5AC0DB9470C096FEEA3','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":0,"price":1}');
INSERT INTO "report" VALUES('canteen',X'6D9E26721ADE6B3D36F1AF2029A5FE5A','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":0,"price":3}');
INSERT INTO "report" VALUES('canteen',X'70D827F88595ED7B27F67150E5F99418','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":1,"price":1}');
INSERT INTO "report" VALUES('canteen',X'97DF3B0F079A36D540CBE8A605A6CB6B','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":2,"meat":2,"price":12}');
INSERT INTO "report" VALUES('canteen',X'A0772FA1AE864C315CF02352E474A730','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":2,"price":0}');
INSERT INTO "report" VALUES('canteen',X'A682479BEEB1508D1AC17EBEA31BC3FD','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":0,"price":3}');
INSERT INTO "report" VALUES('canteen',X'A6BEA27F37074954B67BAEAD5EF1F137','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":1,"price":1}');
INSERT INTO "report" VALUES('canteen',X'BAB1A2450878E4C8E7B0348D115CD265','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":2,"meat":2,"price":0}');
INSERT INTO "report" VALUES('canteen',X'C9CAEFBF54A1181A09228C0848B68651','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":0,"price":5}');
INSERT INTO "report" VALUES('canteen',X'CD739053884816DE09D9A1FAB5A60B0D','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":0,"price":12}');
INSERT INTO "report" VALUES('canteen',X'D1D40B2AE7FDAAF71664866F4A63FC39','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":0,"price":0}');
INSERT INTO "report" VALUES('canteen',X'DE7477DA3ED31D4EE2924D49E14E684F','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":0,"meat":0,"price":8}');
INSERT INTO "report" VALUES('canteen',X'DE9A7EB024CD3F5F2740856E3DDFF2DF','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":0,"meat":2,"price":12}');
INSERT INTO "report" VALUES('canteen',X'E4BFF69D601F66AA46EAA2A65A7A8662','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":1,"price":11}');
INSERT INTO "report" VALUES('canteen',X'FBD7CD68E752B51D48BB988168C100F7','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":1,"meat":1,"price":11}');
INSERT INTO "report" VALUES('canteen',X'FDF493D04D3DE35FD6689F16D8D5590E','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"dish":3,"meat":0,"price":12}');
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID;
INSERT INTO "research_token" VALUES(X'1A5415C3F32FEDC17E2D91BCD5E29B392EC579BCAE39CD6A35834CB0D198A15A');
CREATE TABLE researcher (name TEXT PRIMARY KEY, role TEXT NOT NULL, secret TEXT NOT NULL)
    WITHOUT ROWID;
INSERT INTO "researcher" VALUES('ada','owner','scrypt:32768:8:1$salt$00');
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE survey (id TEXT, version TEXT, place INTEGER NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (id, version)) WITHOUT ROWID;
INSERT INTO "survey" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'{"survey": {"id": "canteen", "title": "Canteen", "privacy": {"cap": 12}, "questions": [{"id": "meat", "kind": "yes-no", "text": "Do you eat meat?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 1, "mechanism": {"name": "krr"}}, {"id": "dish", "kind": "choice", "text": "Which dish do you like best?", "required": false, "shows_if": ["=", "meat", "yes"], "no_answer": true, "options": [{"id": "soup", "text": "Soup"}, {"id": "stew", "text": "Stew"}, {"id": "roast", "text": "Roast"}], "epsilon": 1.5, "mechanism": {"name": "krr"}}, {"id": "price", "kind": "number", "text": "What would you pay?", "required": false, "no_answer": true, "min": 0, "max": 20, "step": 0.5, "unit": "EUR", "epsilon": 1.5, "mechanism": {"name": "optimal"}}]}, "randomizers": {"meat": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 2474399559, "far": 910280727}, "ratio": ["824799853", "303426909"]}, "dish": {"encoder": {"name": "index", "inputs": 4}, "channel": {"name": "window", "inputs": 4, "width": 1, "near": 2572768516, "far": 574062251}, "ratio": ["2572768516", "574062251"]}, "price": {"encoder": {"name": "grid", "steps": 8, "inputs": 10}, "channel": {"name": "table", "inputs": 10, "rows": [[153820, 38466, 27472, 67032, 891, 21622, 199, 14957, 6130, 4316, 4267, 34322, 64191], [103276, 38466, 27472, 67032, 891, 72166, 199, 14957, 6130, 4316, 4267, 34322, 64191], [63586, 38466, 27472, 67032, 891, 96889, 891, 29232, 6130, 4316, 4267, 34322, 64191], [34324, 38466, 27472, 67032, 891, 96889, 891, 58494, 6130, 4316, 4267, 34322, 64191], [34322, 8586, 27472, 67032, 891, 96889, 891, 67032, 27472, 4318, 4267, 34322, 64191], [34322, 8583, 6130, 58495, 891, 96889, 891, 67032, 27472, 19342, 19123, 34324, 64191], [34322, 8583, 6130, 29233, 891, 96889, 891, 67032, 27472, 19342, 19123, 63586, 64191], [34322, 8583, 6130, 14957, 199, 72167, 891, 67032, 27472, 19342, 19123, 103276, 64191], [34322, 8583, 6130, 14957, 199, 21623, 891, 67032, 27472, 19342, 19123, 153820, 64191], [34322, 8583, 6130, 14957, 199, 21619, 199, 14957, 6130, 4316, 4267, 34322, 287684]]}, "ratio": ["287684", "64191"]}}}');
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    symbol INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, symbol)) WITHOUT ROWID;
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'dish',0,0,3);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'dish',0,1,9);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'dish',0,2,4);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'dish',0,3,9);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'meat',0,0,11);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'meat',0,1,8);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'meat',0,2,6);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,0,5);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,1,3);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,2,1);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,3,3);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,5,2);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,8,2);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,10,1);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,11,3);
INSERT INTO "tally" VALUES('canteen','c987bffae9ec941e2b129f55d196dbc5ebc86f84e8e3fdd3995d48184f8f1aea',1,'price',0,12,5);
CREATE TABLE throttle (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID;
CREATE TABLE wave (survey TEXT, wave INTEGER, state TEXT NOT NULL,
    PRIMARY KEY (survey, wave)) WITHOUT ROWID;
INSERT INTO "wave" VALUES('canteen',1,'open');
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
COMMIT;
