import { deleteApp, initializeApp, type App } from 'firebase-admin/app';
import { getMessaging, type Message } from 'firebase-admin/messaging';
import fc from 'fast-check';
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLoopbackGuard } from '@carillon/testing';
import { startScriptedFcm, type ScriptedFcm } from '@carillon/testing/providers';
import { createFcmApi, type FcmApi, type PushContent, type PushRequest } from '../src/index.ts';

const NOW = Date.UTC(2026, 10, 28, 12);
const MESSAGES = 500;

/** Writes our request as the options that a user of firebase-admin would choose for the same message. */
function messageOf({ token, content, timeToLive, now }: PushRequest): Message {
  const { title, body, image, link, data, priority, collapse, androidChannel, apnsSound } = content;
  const seconds = Math.floor(timeToLive / 1000);
  const expiration = seconds === 0 ? 0 : Math.floor(now / 1000) + seconds;
  const isShown = title !== null || body !== null || image !== null;
  const all = { ...data, ...(link !== null && { link }) };
  return {
    ...(/^[\w-]{22}$/.test(token) ? { fid: token } : { token }),
    ...(isShown && {
      notification: {
        ...(title !== null && { title }),
        ...(body !== null && { body }),
        ...(image !== null && { imageUrl: image }),
      },
    }),
    ...(Object.keys(all).length > 0 && { data: all }),
    android: {
      ttl: seconds * 1000,
      ...(priority !== null && { priority }),
      ...(collapse !== null && { collapseKey: collapse }),
      ...(androidChannel !== null && { notification: { channelId: androidChannel } }),
    },
    apns: {
      headers: {
        'apns-expiration': String(expiration),
        ...(priority !== null && { 'apns-priority': priority === 'high' ? '10' : '5' }),
        ...(collapse !== null && { 'apns-collapse-id': collapse }),
      },
      ...((apnsSound !== null || image !== null) && {
        payload: {
          aps: { ...(apnsSound !== null && { sound: apnsSound }), ...(image !== null && { mutableContent: true }) },
        },
      }),
      ...(image !== null && { fcmOptions: { imageUrl: image } }),
    },
    webpush: {
      headers: {
        TTL: String(seconds),
        ...(priority !== null && { Urgency: priority }),
        ...(collapse !== null && { Topic: collapse }),
      },
      ...(link !== null && { fcmOptions: { link } }),
    },
  };
}

/**
 * Brings two spellings of a message to one. Protobuf's JSON takes a field in camel case or with underscores, and FCM takes the priority
 * of Android in either case (decision 0026). Everything else is compared as sent.
 */
function normalize(body: string): unknown {
  const { message } = JSON.parse(body) as { readonly message: { readonly android: object } };
  const spelled = (value: unknown): unknown =>
    typeof value !== 'object' || value === null
      ? value
      : Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
            name === 'priority' && typeof inner === 'string' ? inner.toUpperCase() : spelled(inner),
          ]),
        );
  return { ...message, android: spelled(message.android) };
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null });
const content: fc.Arbitrary<PushContent> = fc.record({
  title: optional(text),
  body: optional(text),
  image: optional(fc.constantFrom('https://shop.example.com/paid.png', 'https://cdn.example.com/a/b.jpg?w=2')),
  link: optional(fc.webUrl({ validSchemes: ['https'] })),
  // FCM reserves the key `from`, and `link` is ours.
  data: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), text, { maxKeys: 4, noNullPrototype: true }),
  priority: optional(fc.constantFrom('high' as const, 'normal' as const)),
  collapse: optional(fc.stringMatching(/^[\w-]{1,32}$/)),
  androidChannel: optional(text),
  apnsSound: optional(text),
});
const request: fc.Arbitrary<PushRequest> = fc.record({
  token: fc.oneof(fc.stringMatching(/^[\w-]{22}$/), fc.stringMatching(/^[\w-]{10}:APA91b[\w-]{40}$/)),
  content,
  timeToLive: fc.integer({ min: 0, max: 27 * 24 * 3_600_000 }),
  now: fc.constant(NOW),
});

describe('the FCM adapter beside firebase-admin', () => {
  let fcm: ScriptedFcm;
  let ours: FcmApi;
  let theirs: App;

  beforeAll(async () => {
    fcm = await startScriptedFcm();
    const { account, trusted, url } = fcm;
    ours = createFcmApi(account, { url, trusted, guard: null, now: () => NOW, tokenGuard: createLoopbackGuard() });
    const agent = new Agent();
    // firebase-admin has no option for the address of FCM.
    agent.createConnection = () => connect({ host: 'localhost', port: Number(new URL(url).port), ca: [...trusted] });
    theirs = initializeApp(
      {
        projectId: account.project_id,
        httpAgent: agent,
        credential: { getAccessToken: () => Promise.resolve({ access_token: 'token-1', expires_in: 3600 }) },
      },
      'oracle',
    );
  });
  afterAll(async () => {
    await Promise.all([ours?.close(), theirs && deleteApp(theirs)]);
    await fcm?.stop();
  });

  it('sends an equal request for every message', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (push) => {
        fcm.received.length = 0;
        expect(await ours.send(push, new AbortController().signal)).toMatchObject({ verdict: 'accepted' });
        await getMessaging(theirs).send(messageOf(push));
        const [own, admin] = fcm.received;
        expect(own?.path).toBe(admin?.path);
        expect(own?.authorization).toBe(admin?.authorization);
        expect(normalize(own?.body ?? '{}')).toEqual(normalize(admin?.body ?? '{}'));
      }),
      { numRuns: MESSAGES },
    );
  }, 120_000);
});
