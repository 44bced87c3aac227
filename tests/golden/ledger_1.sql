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
INSERT INTO "entries" VALUES(1,'policy','2026-11-15T13:12:01.310639+00:00','','','[]','{"delta":"1/1000000","epsilon":"3","filter":"concentrated","neighbours":"add-remove","set_aside":"1/2000000"}',X'9CB58C6B2F1811AD326B01863DBB4E739BAD34A5B50076F2BF5978F8B540D39C',NULL);
INSERT INTO "entries" VALUES(2,'charge','2026-11-15T13:12:01.322563+00:00','count','eve','[{"answers":1,"scale":"4/1","sensitivity":1,"tag":"discrete-laplace/1"}]','{"sql":"SELECT count(*) FROM visits"}',X'C5BBBB84CC3AA02563BF1D7B1B58E5B1B88BDD3BB6DFFCE211820AE83AF8B830',NULL);
INSERT INTO "entries" VALUES(3,'answer','2026-11-15T13:12:01.326090+00:00','count','eve','[]','{"sha256":"9e6cf5065e007b66b6d76624adf7ba03a658a3a363ec0425b093e455c392f7d3"}',X'139492EAA75532D16DACECFB547DB81292464E656084DDAEF900E7EA7BFCD57D',X'3132343138');
INSERT INTO "entries" VALUES(4,'charge','2026-11-15T13:12:01.330306+00:00','mean','owner','[{"answers":1,"sensitivity_squared":"9/1","tag":"discrete-gaussian/1","variance":"1000/7"},{"delta":"1/100000000","epsilon":"1/5","tag":"approximate/1"}]','{}',X'2CD59FF327011B0329D0D9659BB69F21FAB0641E9FFB9AF919050DF09DEDB96D',NULL);
INSERT INTO "entries" VALUES(5,'policy','2026-11-15T13:12:01.349109+00:00','','','[]','{"delta":"1/1000000","epsilon":"4","filter":"concentrated","neighbours":"add-remove","set_aside":"1/2000000"}',X'65C22BBD6649803004BED252476A2F6A3A20CB16E39398F70D0D4E177B5FC2CD',NULL);
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
