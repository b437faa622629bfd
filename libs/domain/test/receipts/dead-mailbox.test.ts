import { describe, expect, it } from 'vitest';
import { isDeadMailbox, statusIn } from '../../src/receipts/index.ts';

const isDead = (answer: string, status = '', reportedDead = false): boolean =>
  isDeadMailbox({ answer, status, reportedDead });

describe('isDeadMailbox (does a bounce mean that the address is dead?)', () => {
  it.each([
    '550 5.1.1 <person@example.net>: Recipient address rejected: User unknown in virtual mailbox table',
    '554 5.1.1 <person@example.net>: Recipient address rejected: undeliverable address',
    '511 5.1.1 unknown or illegal alias: person@example.net',
    '551 5.1.6 recipient no longer on server: person@example.net',
    '553 5.1.2 <person@example.net>... bad host name',
    '556 5.1.10 Recipient address has null MX',
    '550 #5.1.1 bad address person@example.net',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    'smtp;550 RESOLVER.ADR.RecipNotFound; not found',
    'smtp; 550 Unknown user person@example.net',
    'smtp; 550 <person@example.net>... User not exist',
    '550 <person@example.net>: User unknown',
    '550 No such user here',
    '550 5.7.1 No such user!',
    '550 5.7.1 <person@example.net>: Recipient address rejected: User unknown',
    '550 5.2.1 <person@example.net>... User Unknown',
    '550 5.2.1 The email account that you tried to reach is disabled.',
    '550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking the address for typos or unnecessary spaces.',
    '550 The email account that you tried to reach does not exist.',
    "554 delivery error: dd This user doesn't have a example.com account (person@example.com) [0]",
    '552 1 Requested mail action aborted, mailbox not found',
    '550 Message was not accepted -- invalid mailbox. Local mailbox person@example.net is unavailable: user not found',
    '550 Mailbox not found. http://service.example.net/help?id=policy',
    'Sorry, no mailbox here by that name. (#5.1.1)',
    '550 sorry, no mailbox here by that name (chkuser)',
    '553 5.3.0 <person@example.net>... Addressee unknown, relay=[192.0.2.7]',
    '550 5.1.1 User unknown in relay recipient table',
    'User person (person@example.net) not listed in public Name & Address Book',
    'The recipient name is not recognized',
    '550 Utilisateur inconnu !',
    '550 Unbekannter Empfänger',
    '550 no existe dicha persona',
    '5.3.0 - Other mail system problem 550-"Unknown user person@example.net"',
    '550 5.1.1 <rate-quota-policy@example.net>: User unknown',
    'host mx1.spam-block.example[192.0.2.7] said: 550 5.1.1 User unknown (in reply to RCPT TO command)',
    'host mx.rates.example [2001:db8::7] SMTP error from remote mail server after RCPT TO:<person@example.net>: 550 No such user',
    // Outlook.com's reply for an unknown address.
    '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [AB1EUR01FT001.eop-EUR01.prod.protection.outlook.com]',
  ])('is true: %s', (answer) => {
    expect(isDead(answer)).toBe(true);
  });

  it.each([
    '550-5.2.1 The user you are trying to contact is receiving mail at a rate that 550-5.2.1 prevents additional messages from being delivered.',
    '550 5.2.1 Mailbox disabled for exceeding its quota',
    '550 5.2.1 Mailbox unavailable',
    '550 5.7.1 IP address blacklisted by recipient',
    '550 5.1.1 Message blocked by policy',
    'host mx.example.net[192.0.2.7] said: 550 5.1.1 blocked using zen.dnsbl.example',
    '550 5.1.1 Listed by dnsbl.example.net',
    '550 5.1.1 User over quota. (#5.1.1)',
    '550 5.1.1 RCP-P2 Refused due to recipient preferences',
    '550 5.1.1 Sender address rejected: User unknown in virtual alias table',
    'SMTP error from remote mail server after MAIL FROM:<token@bounces.example.com>: 550 <token@bounces.example.com>: User unknown',
    '550 5.1.7 Invalid address: no such user',
    '553 5.1.8 <token@bounces.example.com>... Domain of sender address does not exist',
    '450 4.1.1 <person@example.net>: Recipient address rejected: User unknown in virtual alias table',
    '451 User unknown, try again',
    '550 Requested action not taken: mailbox unavailable',
    '550 5.4.1 Recipient address rejected: Access denied',
    '550 relay not permitted: unknown user',
    '552 5.2.2 Mailbox full',
    '554 5.7.9 Message not accepted for policy reasons',
    '550 5.7.1 Service unavailable; client host blocked using a list',
    '550 User account is suspended',
    '550 Unrouteable address',
    '550 no',
    '',
  ])('is false: %s', (answer) => {
    expect(isDead(answer)).toBe(false);
  });

  it('uses the answer of the mail server before the code of the reporting server', () => {
    expect(isDead('550 5.7.1 refused', '5.1.1')).toBe(false);
    expect(isDead('550 5.1.1 refused', '5.0.0')).toBe(true);
    expect(isDead('450 refused', '4.1.1')).toBe(false);
    expect(isDead('550 refused', '5.1.1')).toBe(true);
    expect(isDead('', '5.1.1')).toBe(true);
    expect(isDead('', '5.2.1')).toBe(false);
  });

  it('uses the vendor’s classification only if no code or text contradicts it', () => {
    expect(isDead('', '', true)).toBe(true);
    expect(isDead('550 refused', '5.0.0', true)).toBe(true);
    expect(isDead('550 5.7.1 refused', '', true)).toBe(false);
    expect(isDead('', '5.4.4', true)).toBe(false);
    expect(isDead('550 blocked', '', true)).toBe(false);
  });
});

describe('statusIn (finds a status code in a bounce text)', () => {
  it.each([
    ['550 5.1.1 <person@example.net>: User unknown', '5.1.1'],
    ['smtp; 550-5.2.1 too fast 550 5.2.1 really', '5.2.1'],
    ['192.0.2.7 does not like recipient. Remote host said: 550 #5.1.10 no', '5.1.10'],
    ['Sorry, no mailbox here by that name. (#5.1.1)', '5.1.1'],
    ['Internet Mail Service (5.5.1960.3) said: 554 5.7.0 no', '5.7.0'],
    ['host 4.5.6.7 refused it', ''],
    ['550 User unknown', ''],
  ])('reads %s', (answer, status) => {
    expect(statusIn(answer)).toBe(status);
  });
});
