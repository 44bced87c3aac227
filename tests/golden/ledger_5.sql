PRAGMA application_id = 1145656131;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE entries (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        written TEXT NOT NULL,
        question TEXT NOT NULL,
        account TEXT NOT NULL,
        events TEXT NOT NULL,
        about TEXT NOT NULL,
        digest BLOB NOT NULL,
        answer BLOB
    );
INSERT INTO "entries" VALUES(1,'policy','2026-11-16T15:29:16.631412+00:00','','','[]','{"delta":"1/1000000","epsilon":"10","filter":"concentrated","neighbours":"add-remove","set_aside":"0"}',X'8437710AA5AB65269EEA9567BF7243AAF95837EFCF534B5A46BE953DD8AC79CA',NULL);
INSERT INTO "entries" VALUES(2,'analyst','2026-11-16T15:29:16.650005+00:00','','eve','[]','{"delta":"1/100000000","enabled":"yes","epsilon":"1","token":"none"}',X'A80BF5BDEF59E87BA11564CA9C1B6F5DBC1C419B3EFFE7B14792F4941CE4F795',NULL);
INSERT INTO "entries" VALUES(3,'analyst','2026-11-16T15:29:16.653654+00:00','','rea','[]','{"delta":"none","enabled":"yes","epsilon":"0","role":"reader","token":"none"}',X'779571B629855F49D52E931E5A42812165B2AF4E30C3C2B002CD5CCB26AFC464',NULL);
INSERT INTO "entries" VALUES(4,'analyst','2026-11-16T15:29:16.657571+00:00','','ann','[]','{"delta":"none","enabled":"yes","epsilon":"0","role":"owner","token":"none"}',X'FC01CB9E3C5E6E3C4EBB4D03183C94412CE4CFF85CC628A0C2B7C9DDEE4D9F40',NULL);
INSERT INTO "entries" VALUES(5,'request','2026-11-16T15:29:16.664456+00:00','','eve','[]','{"delta":"none","epsilon":"4","kind":"cap","reason":"a second study"}',X'D94553662B849EB681A7F1E447EF1DD7D02139267E17912E2690479DA698085D',NULL);
INSERT INTO "entries" VALUES(6,'request','2026-11-16T15:29:16.673774+00:00','','eve','[]','{"kind":"question","price":"\u03b5 = 1","question":"{\"epsilon\":\"1\",\"sql\":\"SELECT COUNT(*) FROM visits\"}","reason":"the main result"}',X'0B5FE7A25444407033A2F79D9094F1B507E3C96F11E18AE9DD05EFD2286CA3B4',NULL);
INSERT INTO "entries" VALUES(7,'request','2026-11-16T15:29:16.681831+00:00','','eve','[]','{"kind":"question","price":"\u03b5 = 9","question":"another","reason":"curiosity"}',X'933238A7DF332F47039BEDEDEDB9DD711853AB792EB8362E0C909492FA21DBA5',NULL);
INSERT INTO "entries" VALUES(8,'request','2026-11-16T15:29:16.693335+00:00','','eve','[]','{"delta":"1/10000000","epsilon":"8","kind":"cap","reason":"a third, in S\u00e3o Paulo"}',X'A47D0E4CF355EACD20324788E3944B43DEBE691901A6A76DFDD4866C07670A4C',NULL);
INSERT INTO "entries" VALUES(9,'decision','2026-11-16T15:29:16.705460+00:00','','eve','[]','{"by":"ann","delta":"1/100000000","epsilon":"2","granted":"yes","reason":"half of it","request":"5"}',X'3E5BEDE6808F30E2A1E8FF3379D47CC767AA7922B07C8E26A4150DF4BF0991C6',NULL);
INSERT INTO "entries" VALUES(10,'analyst','2026-11-16T15:29:16.705925+00:00','','eve','[]','{"delta":"1/100000000","enabled":"yes","epsilon":"2","token":"none"}',X'E32FB5525DA1ACED2AFE0C801C65CBA195226EAF86D0259E5324C25C7D80A14C',NULL);
INSERT INTO "entries" VALUES(11,'decision','2026-11-16T15:29:16.707504+00:00','','eve','[]','{"by":"ann","granted":"yes","reason":"","request":"6"}',X'6D82ED54AC134296C2FB6ED1E157D58998CEBAC0A620ED39DFA7A2D5C9894E37',NULL);
INSERT INTO "entries" VALUES(12,'decision','2026-11-16T15:29:16.708439+00:00','','eve','[]','{"by":"owner","granted":"no","reason":"too much","request":"7"}',X'997E2CEE81DA9DDDB36738EEA26522CF4038CF93FB91F735D7B6A54E9CF871E6',NULL);
CREATE UNIQUE INDEX paid_once ON entries (question) WHERE kind = 'charge';
CREATE UNIQUE INDEX kept_once ON entries (question) WHERE kind = 'answer';
CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN
        SELECT RAISE(ABORT, 'a ledger is not edited');
    END;
CREATE TRIGGER no_delete BEFORE DELETE ON entries BEGIN
        SELECT RAISE(ABORT, 'a ledger is not edited');
    END;
CREATE TRIGGER no_replace BEFORE INSERT ON entries
    WHEN new.number <> (SELECT coalesce(max(number), 0) + 1 FROM entries)
        OR EXISTS (SELECT 1 FROM entries WHERE kind = 'charge' AND new.kind = 'charge'
                   AND question = new.question)
        OR EXISTS (SELECT 1 FROM entries WHERE kind = 'answer' AND new.kind = 'answer'
                   AND question = new.question)
    BEGIN
        SELECT RAISE(ABORT, 'a ledger is not edited');
    END;
COMMIT;
