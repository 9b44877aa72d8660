PRAGMA application_id = 1684369001;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE invitation (survey TEXT, wave INTEGER, token_hash BLOB, used INTEGER NOT NULL,
    PRIMARY KEY (survey, wave, token_hash)) WITHOUT ROWID;
CREATE TABLE ledger (survey TEXT, respondent BLOB, version TEXT, wave INTEGER,
    submissions INTEGER NOT NULL, charged INTEGER NOT NULL,
    PRIMARY KEY (survey, respondent, version, wave)) WITHOUT ROWID;
INSERT INTO "ledger" VALUES('panel',X'44D7734F21F1ABD2AB2B2EAF22C1CB37','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,1,2500000);
INSERT INTO "ledger" VALUES('panel',X'44D7734F21F1ABD2AB2B2EAF22C1CB37','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,1,2054677);
INSERT INTO "ledger" VALUES('panel',X'44D7734F21F1ABD2AB2B2EAF22C1CB37','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,1,1645372);
INSERT INTO "ledger" VALUES('panel',X'5231FE5AF7574588602BEF618D628BF9','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,1,2500000);
INSERT INTO "ledger" VALUES('panel',X'5231FE5AF7574588602BEF618D628BF9','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,1,2054677);
INSERT INTO "ledger" VALUES('panel',X'5E7047E44ACD09E12DED0C1E51A9D34A','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,1,2500000);
INSERT INTO "ledger" VALUES('panel',X'5E7047E44ACD09E12DED0C1E51A9D34A','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,1,2054677);
INSERT INTO "ledger" VALUES('panel',X'5E7047E44ACD09E12DED0C1E51A9D34A','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,1,1645372);
INSERT INTO "ledger" VALUES('panel',X'8733F1D61BE5F477CF8806616FC50F12','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,1,2500000);
INSERT INTO "ledger" VALUES('panel',X'8733F1D61BE5F477CF8806616FC50F12','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,1,2054677);
INSERT INTO "ledger" VALUES('panel',X'8733F1D61BE5F477CF8806616FC50F12','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,1,1645372);
INSERT INTO "ledger" VALUES('panel',X'E2EF5884393104C6AB89F77DDC699B69','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,1,2500000);
INSERT INTO "ledger" VALUES('panel',X'E2EF5884393104C6AB89F77DDC699B69','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,1,2054677);
INSERT INTO "ledger" VALUES('panel',X'F0FD26F95F043875518E6C57EF9762A7','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,1,2500000);
INSERT INTO "ledger" VALUES('panel',X'F0FD26F95F043875518E6C57EF9762A7','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,1,2054677);
INSERT INTO "ledger" VALUES('panel',X'F0FD26F95F043875518E6C57EF9762A7','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,1,1645372);
CREATE TABLE log (number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL,
    what TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE report (survey TEXT, rid BLOB, version TEXT NOT NULL, wave INTEGER NOT NULL,
    payload TEXT NOT NULL, PRIMARY KEY (survey, rid)) WITHOUT ROWID;
INSERT INTO "report" VALUES('panel',X'017865694249715A4C399AC57A8CAD65','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"born":2,"bullied":0,"mood":0}');
INSERT INTO "report" VALUES('panel',X'2539318CF7D983950554F59CDDAF00C7','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"born":1,"bullied":0,"mood":1}');
INSERT INTO "report" VALUES('panel',X'3D79AEBB60AF87B945025F24142DA16D','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"born":2,"bullied":2,"mood":2}');
INSERT INTO "report" VALUES('panel',X'40CAEF84181D673FFE92EC8388DC2636','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"born":0,"bullied":0,"mood":1}');
INSERT INTO "report" VALUES('panel',X'4FAAE50EF6AC1CFF468332EF97220B56','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'{"born":0,"bullied":0,"mood":0}');
INSERT INTO "report" VALUES('panel',X'5BD2821C9251B7D2FA62C0F5ED21A85E','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"born":0,"bullied":0,"mood":1}');
INSERT INTO "report" VALUES('panel',X'797FF260EAB6452D73FBFA87A6D3165E','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"born":0,"bullied":0,"mood":0}');
INSERT INTO "report" VALUES('panel',X'83E509E9DBB14F4649BEEA95D17701EB','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'{"born":3,"bullied":0,"mood":2}');
INSERT INTO "report" VALUES('panel',X'9611F37179134EFE9CE709D663A023CC','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"born":3,"bullied":0,"mood":1}');
INSERT INTO "report" VALUES('panel',X'97D54B43223D44C61B9E52EEC66DF205','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"born":3,"bullied":0,"mood":2}');
INSERT INTO "report" VALUES('panel',X'A820D966AD6EB0611DC34EA4BEE4FAE7','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'{"born":2,"bullied":0,"mood":1}');
INSERT INTO "report" VALUES('panel',X'D15A1E12C761C0CAC286377D61C917C4','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"born":2,"bullied":0,"mood":1}');
INSERT INTO "report" VALUES('panel',X'D7D911B6E81648C2B0EB70EDDDF114DA','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"born":3,"bullied":0,"mood":0}');
INSERT INTO "report" VALUES('panel',X'DDC890D5778FE0A042E0982DE95A6408','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"born":1,"bullied":1,"mood":0}');
INSERT INTO "report" VALUES('panel',X'E93CC0269559A1789C28A08DD6DF01B6','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"born":2,"bullied":1,"mood":0}');
INSERT INTO "report" VALUES('panel',X'F4A57258465B32EBECEE6310D1134649','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'{"born":1,"bullied":0,"mood":1}');
CREATE TABLE research_token (hash BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE researcher (name TEXT PRIMARY KEY, role TEXT NOT NULL, secret TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE session (hash BLOB PRIMARY KEY, researcher TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE survey (id TEXT, version TEXT, place INTEGER NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (id, version)) WITHOUT ROWID;
INSERT INTO "survey" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'{"survey": {"id": "panel", "title": "Panel", "questions": [{"id": "bullied", "kind": "yes-no", "text": "Were you bullied?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 1, "epsilon_forever": 2, "mechanism": {"name": "krr"}}, {"id": "born", "kind": "choice", "text": "Where were you born?", "required": false, "no_answer": true, "options": [{"id": "here", "text": "Here"}, {"id": "near", "text": "Near"}, {"id": "far", "text": "Far"}], "epsilon": 1, "epsilon_forever": 1.5, "stable": true, "mechanism": {"name": "krr"}}, {"id": "mood", "kind": "yes-no", "text": "Are you well?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 0.5, "mechanism": {"name": "krr"}}], "privacy": {"cap": 50}}, "randomizers": {"bullied": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 2964027256, "far": 665469278}, "ratio": ["2656859400864623937", "977403951661214533"], "permanent": {"name": "window", "inputs": 3, "width": 1, "near": 3380066765, "far": 457442293}, "forever": ["3380066765", "457442293"]}, "born": {"encoder": {"name": "index", "inputs": 4}, "channel": {"name": "window", "inputs": 4, "width": 1, "near": 3153711357, "far": 380412855}, "ratio": ["974323474154794003", "358433575192292333"], "permanent": {"name": "window", "inputs": 4, "width": 1, "near": 2572768516, "far": 574062251}, "forever": ["2572768516", "574062251"]}, "mood": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 1940735325, "far": 1177115477}, "ratio": ["1940735325", "1177115477"]}}}');
INSERT INTO "survey" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'{"survey": {"id": "panel", "title": "Panel", "questions": [{"id": "bullied", "kind": "yes-no", "text": "Were you bullied?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 1, "epsilon_forever": 2, "mechanism": {"name": "krr"}}, {"id": "born", "kind": "choice", "text": "Where were you born?", "required": false, "no_answer": true, "options": [{"id": "here", "text": "Here"}, {"id": "near", "text": "Near"}, {"id": "far", "text": "Far"}], "epsilon": 1, "epsilon_forever": 1.5, "stable": true, "mechanism": {"name": "krr"}}, {"id": "mood", "kind": "yes-no", "text": "Do you feel well?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 0.5, "mechanism": {"name": "krr"}}], "privacy": {"cap": 50}}, "randomizers": {"bullied": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 2964027256, "far": 665469278}, "ratio": ["2656859400864623937", "977403951661214533"], "permanent": {"name": "window", "inputs": 3, "width": 1, "near": 3380066765, "far": 457442293}, "forever": ["3380066765", "457442293"]}, "born": {"encoder": {"name": "index", "inputs": 4}, "channel": {"name": "window", "inputs": 4, "width": 1, "near": 3153711357, "far": 380412855}, "ratio": ["974323474154794003", "358433575192292333"], "permanent": {"name": "window", "inputs": 4, "width": 1, "near": 2572768516, "far": 574062251}, "forever": ["2572768516", "574062251"]}, "mood": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 1940735325, "far": 1177115477}, "ratio": ["1940735325", "1177115477"]}}}');
INSERT INTO "survey" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'{"survey": {"id": "panel", "title": "Panel", "questions": [{"id": "bullied", "kind": "yes-no", "text": "Were you bullied?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 1, "epsilon_forever": 2, "mechanism": {"name": "krr"}}, {"id": "born", "kind": "choice", "text": "Where were you born?", "required": false, "no_answer": true, "options": [{"id": "here", "text": "Here"}, {"id": "near", "text": "Near"}, {"id": "far", "text": "Far"}], "epsilon": 1, "epsilon_forever": 1.5, "stable": true, "mechanism": {"name": "krr"}}, {"id": "mood", "kind": "yes-no", "text": "Are you well?", "required": false, "no_answer": true, "options": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}], "epsilon": 0.5, "mechanism": {"name": "krr"}}], "privacy": {"cap": 40}}, "randomizers": {"bullied": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 2964027256, "far": 665469278}, "ratio": ["2656859400864623937", "977403951661214533"], "permanent": {"name": "window", "inputs": 3, "width": 1, "near": 3380066765, "far": 457442293}, "forever": ["3380066765", "457442293"]}, "born": {"encoder": {"name": "index", "inputs": 4}, "channel": {"name": "window", "inputs": 4, "width": 1, "near": 3153711357, "far": 380412855}, "ratio": ["974323474154794003", "358433575192292333"], "permanent": {"name": "window", "inputs": 4, "width": 1, "near": 2572768516, "far": 574062251}, "forever": ["2572768516", "574062251"]}, "mood": {"encoder": {"name": "index", "inputs": 3}, "channel": {"name": "window", "inputs": 3, "width": 1, "near": 1940735325, "far": 1177115477}, "ratio": ["1940735325", "1177115477"]}}}');
CREATE TABLE tally (survey TEXT, version TEXT, wave INTEGER, question TEXT, cohort INTEGER,
    symbol INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (survey, version, wave, question, cohort, symbol)) WITHOUT ROWID;
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'born',0,0,1);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'born',0,1,1);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'born',0,2,2);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'born',0,3,2);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'bullied',0,0,6);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'mood',0,0,3);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'mood',0,1,2);
INSERT INTO "tally" VALUES('panel','018342477e8f5cc6e9c5adc2e86340c0289fa59d6c3b9a63d9ff74045acdb29a',1,'mood',0,2,1);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'born',0,0,2);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'born',0,1,1);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'born',0,2,2);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'born',0,3,1);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'bullied',0,0,3);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'bullied',0,1,2);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'bullied',0,2,1);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'mood',0,0,2);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'mood',0,1,3);
INSERT INTO "tally" VALUES('panel','510fbd9c5abd512acba1b7d126373745e0c08cbd0db9cbb163cb06d86cfdb5d3',2,'mood',0,2,1);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'born',0,0,1);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'born',0,1,1);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'born',0,2,1);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'born',0,3,1);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'bullied',0,0,4);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'mood',0,0,1);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'mood',0,1,2);
INSERT INTO "tally" VALUES('panel','5b6aebddaddd23d54751551582dff5b5df18017d94d2a0143f56e04552a932d0',3,'mood',0,2,1);
CREATE TABLE throttle (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL)
    WITHOUT ROWID;
CREATE TABLE wave (survey TEXT, wave INTEGER, state TEXT NOT NULL,
    PRIMARY KEY (survey, wave)) WITHOUT ROWID;
INSERT INTO "wave" VALUES('panel',1,'closed');
INSERT INTO "wave" VALUES('panel',2,'closed');
INSERT INTO "wave" VALUES('panel',3,'open');
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
    BEGIN SELECT raise(ABORT, 'the log is append-only'); END;
COMMIT;
