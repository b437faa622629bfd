import { describe, expect, it } from 'vitest';
import { classify, readProblem, readServiceAccount } from '../src/index.ts';

const ACCOUNT = {
  project_id: 'demo-app',
  client_email: 'push@demo-app.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const KEY_FILE = JSON.stringify({ type: 'service_account', ...ACCOUNT });

const fcm = (errorCode: string) => ({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode });
const blame = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'no' }],
});
const judge = (status: number, code: string, details: readonly object[] = []) =>
  classify(status, readProblem(JSON.stringify({ error: { code: status, status: code, message: 'm', details } })));

describe('an answer of FCM', () => {
  it.each([
    [404, 'NOT_FOUND', [fcm('UNREGISTERED')], 'refused_recipient', 'dead_token'],
    // The project does not exist: a purge here would forget every device.
    [404, 'NOT_FOUND', [], 'refused_account', null],
    [404, 'UNREGISTERED', [], 'refused_account', null],
    [400, 'INVALID_ARGUMENT', [fcm('INVALID_ARGUMENT')], 'refused_content', null],
    [400, 'INVALID_ARGUMENT', [fcm('INVALID_ARGUMENT'), blame('message.token')], 'refused_recipient', null],
    [400, 'INVALID_ARGUMENT', [blame('message.fid')], 'refused_recipient', null],
    [400, 'INVALID_ARGUMENT', [blame('message.notification.image')], 'refused_content', null],
    [403, 'PERMISSION_DENIED', [fcm('SENDER_ID_MISMATCH')], 'refused_recipient', null],
    [403, 'PERMISSION_DENIED', [], 'refused_account', null],
    [401, 'UNAUTHENTICATED', [], 'refused_account', null],
    [401, 'UNAUTHENTICATED', [fcm('THIRD_PARTY_AUTH_ERROR')], 'refused_account', null],
    [429, 'RESOURCE_EXHAUSTED', [fcm('QUOTA_EXCEEDED')], 'throttled', null],
    [429, 'RESOURCE_EXHAUSTED', [], 'throttled', null],
    [503, 'UNAVAILABLE', [fcm('UNAVAILABLE')], 'ambiguous', null],
    [500, 'INTERNAL', [fcm('INTERNAL')], 'ambiguous', null],
    [418, 'TEAPOT', [], 'refused_content', null],
    [599, 'NEW', [], 'ambiguous', null],
  ])('%s %s %j is %s, suppressed: %s', (status, code, details, verdict, suppress) => {
    expect(judge(status, code, details)).toMatchObject({ verdict, suppress });
  });

  it.each([502, 504])('in HTML with %s is in doubt', (status) => {
    expect(classify(status, readProblem('<html>Bad gateway</html>')).verdict).toBe('ambiguous');
  });

  it.each(['', 'null', '[]', '{"error":1}', '{"error":{"details":[null,1,{"@type":1}]}}', '{"error":{"details":{}}}'])(
    'with the body %j throws nothing',
    (body) => {
      expect(readProblem(body).errorCode).toBeNull();
    },
  );
});

describe('a key file', () => {
  it('gives four fields and nothing else', () => {
    const hostile = JSON.stringify({ ...JSON.parse(KEY_FILE), universe_domain: 'evil.example', auth_uri: 'x' });
    expect(readServiceAccount(hostile)).toEqual({ ok: true, value: ACCOUNT });
  });

  it('that does not say where tokens are asked for means Google', () => {
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
  ])('that is %s is refused in words without its content', (_, text) => {
    const read = readServiceAccount(text);
    expect(read.ok).toBe(false);
    expect(JSON.stringify(read)).not.toContain('PRIVATE');
  });
});
