-- Made by the commit before charges said what they are about: a cap, and the charges of a run of IPA.
CREATE SCHEMA anon;

CREATE TABLE anon.ledger (
    position BIGINT PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('charge', 'cap')),
    dataset VARCHAR NOT NULL,
    method VARCHAR,
    purpose VARCHAR,
    epsilon VARCHAR,
    delta VARCHAR,
    spent_at TIMESTAMP NOT NULL,
    policy_sha256 VARCHAR,
    previous_sha256 VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL
);

INSERT INTO anon.ledger VALUES
    (0, 'cap', 'visits', NULL, NULL, '3', '0.1', '2026-11-22 18:05:07.589272', NULL, '0000000000000000000000000000000000000000000000000000000000000000', 'e24270906520f0879290792ad0e6ff69f43227fc768bd224941224491534f437'),
    (1, 'charge', 'visits', 'ipa', 'node', '0.1', '0', '2026-11-22 18:05:13.084840', 'abababababababababababababababababababababababababababababababab', 'e24270906520f0879290792ad0e6ff69f43227fc768bd224941224491534f437', '0844b1f254054471703958825b92023f5420182cb895c92b265ed724e7447765'),
    (2, 'charge', 'visits', 'ipa', 'cells', '0.6', '0.0000005', '2026-11-22 18:05:13.084915', 'abababababababababababababababababababababababababababababababab', '0844b1f254054471703958825b92023f5420182cb895c92b265ed724e7447765', 'b143dd4ffc69c14e1d7da6757aaabfd51f9dfc662e65133f4d337d02518a7fd6'),
    (3, 'charge', 'visits', 'ipa', 'rolled-up', '0.3', '0.0000005', '2026-11-22 18:05:13.084943', 'abababababababababababababababababababababababababababababababab', 'b143dd4ffc69c14e1d7da6757aaabfd51f9dfc662e65133f4d337d02518a7fd6', 'da9c9f9a425d3a259c713f0dd225ca8a849fa3cbdcfa38fc743c755b4b5b5587')
