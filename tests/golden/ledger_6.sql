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
INSERT INTO "entries" VALUES(1,'policy','2026-11-18T11:35:42.488505+00:00','','','[]','{"delta":"1/1000000","epsilon":"10","filter":"concentrated","neighbours":"add-remove","set_aside":"0"}',X'43E00E61E5992DCAB9F3AA3302012568B61E524FE12AC92AE89AEBD33A4217A2',NULL);
INSERT INTO "entries" VALUES(2,'analyst','2026-11-18T11:35:42.500839+00:00','','eve','[]','{"confirm_above":"0","default_epsilon":"1/20","delta":"none","enabled":"yes","epsilon":"5","per_day":"1/3","per_query":"1/2","scram":"SCRAM-SHA-256$4096:pepdUv3StUpwtKP83EAaaw==$hxCuI3rOlAiE7kht3SKiDMwzNlu1HaIzYjTdXwRbT0c=:WMIicjDbVK+a3u7hMKX0xfjb4n8th4U2dSWgvwtki/0=","token":"scrypt:32768:8:1:05cf01062793921d:edd73b1fa0da175e6406aca999f7d45d:475d05972f9c11dd5b24b31151e6b193f4bdafec0215b344dcbac8e975430584"}',X'0B2A4B5C060CD2461E09A8BA1503EB55C8F3DD7FF8C85FB024BA2794C8EC61C1',NULL);
INSERT INTO "entries" VALUES(3,'analyst','2026-11-18T11:35:42.507915+00:00','','eve','[]','{"confirm_above":"0","default_epsilon":"1/20","delta":"none","enabled":"yes","epsilon":"5","per_day":"2","per_query":"1/2","scram":"SCRAM-SHA-256$4096:pepdUv3StUpwtKP83EAaaw==$hxCuI3rOlAiE7kht3SKiDMwzNlu1HaIzYjTdXwRbT0c=:WMIicjDbVK+a3u7hMKX0xfjb4n8th4U2dSWgvwtki/0=","token":"scrypt:32768:8:1:05cf01062793921d:edd73b1fa0da175e6406aca999f7d45d:475d05972f9c11dd5b24b31151e6b193f4bdafec0215b344dcbac8e975430584"}',X'DA63D764C6ABDD7A371467554DAD4DEAA4824F7A861434F71B2EE52BD517F0BC',NULL);
INSERT INTO "entries" VALUES(4,'charge','2026-11-18T11:35:42.516219+00:00','stated','eve','[{"answers":1,"sensitivity_squared":"1/1","tag":"discrete-gaussian/1","variance":"100/1"}]','{"stated_epsilon":"1/4"}',X'DF20FAD88B848C7664925B9031B2A6B9EAE5B913FA3B5380AA7FA5C24FD2975D',NULL);
INSERT INTO "entries" VALUES(5,'charge','2026-11-18T11:35:42.520184+00:00','pure','eve','[{"epsilon":"1/8","tag":"pure/1"}]','{}',X'86F5830B9F205560895201BD162FE3CFC27444E17B5702506A7BC2BD615460E6',NULL);
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
