import { describe, expect, it } from 'vitest';
import { classify, readProblem, readServiceAccount } from '../src/index.ts';
import { ANSWERS, bodyOf } from './answers.ts';

const ACCOUNT = {
  project_id: 'demo-app',
  client_email: 'push@demo-app.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const KEY_FILE = JSON.stringify({ type: 'service_account', ...ACCOUNT });

const outcomeOf = (status: number, code: string, details: readonly object[] = []) =>
  classify(status, readProblem(JSON.stringify(bodyOf(status, code, details))));

describe('an answer of FCM', () => {
  it.each(ANSWERS)('%s %s %j is %s, suppressed: %s', (status, code, details, verdict, suppress) => {
    expect(outcomeOf(status, code, details)).toMatchObject({ verdict, suppress });
  });

  it.each([
    ['The registration token is not a valid FCM registration token', 'refused_recipient', 'dead_token'],
    ['Invalid registration token', 'refused_recipient', 'dead_token'],
    ['Invalid value at message.data: "not a valid FCM registration token"', 'refused_content', null],
    ['Request contains an invalid argument.', 'refused_content', null],
  ])('with only the message %j is %s, suppressed: %s', (message, verdict, suppress) => {
    const errorCode = 'INVALID_ARGUMENT';
    const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }];
    const body = { error: { code: 400, message, status: errorCode, details } };
    expect(classify(400, readProblem(JSON.stringify(body)))).toMatchObject({ verdict, suppress });
  });

  it.each([502, 504])('in HTML with %s is in doubt', (status) => {
    expect(classify(status, readProblem('<html>Bad gateway</html>')).verdict).toBe('ambiguous');
  });

  it.each(['', 'null', '[]', '{"error":1}', '{"error":{"details":[null,1,{"@type":1}]}}', '{"error":{"details":{}}}'])(
    'with the body %j does not throw',
    (body) => {
      expect(readProblem(body).errorCode).toBeNull();
    },
  );
});

describe('a key file', () => {
  it('gives exactly four fields', () => {
    const hostile = JSON.stringify({ ...JSON.parse(KEY_FILE), universe_domain: 'evil.example', auth_uri: 'x' });
    expect(readServiceAccount(hostile)).toEqual({ ok: true, value: ACCOUNT });
  });

  it('without a token address uses Google’s', () => {
    const { token_uri: _, ...rest } = JSON.parse(KEY_FILE) as typeof ACCOUNT;
    expect(readServiceAccount(JSON.stringify(rest))).toEqual({ ok: true, value: ACCOUNT });
  });

  it.each([
    ['text', 'not json'],
    ['a list', '[]'],
    ['another type', JSON.stringify({ ...JSON.parse(KEY_FILE), type: 'external_account' })],
    ['no key', JSON.stringify({ ...JSON.parse(KEY_FILE), private_key: '' })],
    ['a project that is a path', JSON.stringify({ ...JSON.parse(KEY_FILE), project_id: '../x' })],
    ['a file to ask for tokens', JSON.stringify({ ...JSON.parse(KEY_FILE), token_uri: 'file:///etc/passwd' })],
    ['no address to ask for tokens', JSON.stringify({ ...JSON.parse(KEY_FILE), token_uri: 'oauth2' })],
    ['no mail', JSON.stringify({ ...JSON.parse(KEY_FILE), client_email: 7 })],
  ])('that is %s is refused without showing its content', (_, text) => {
    const read = readServiceAccount(text);
    expect(read.ok).toBe(false);
    expect(JSON.stringify(read)).not.toContain('PRIVATE');
  });
});
