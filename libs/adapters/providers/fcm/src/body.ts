import type { PushMessage } from '@carillon/domain/channels';
import type { Duration, Instant } from '@carillon/kernel';
import { createHash } from 'node:crypto';

/** A push notification as its template made it. */
export type PushContent = Omit<PushMessage, 'channel' | 'to'>;

export type PushRequest = {
  /** A registration token, or a Firebase Installation ID. */
  readonly token: string;
  readonly content: PushContent;
  /** Time until the message may no longer be sent. 0: deliver now or never. */
  readonly timeToLive: Duration;
  readonly now: Instant;
};

/** FCM takes 4 weeks at most. */
const MAX_TTL: Duration = 28 * 24 * 3_600_000;

/** A Firebase Installation ID has 22 characters; a registration token is much longer and has a colon. */
const INSTALLATION_ID = /^[\w-]{22}$/;

/**
 * The body of `POST /v1/projects/<project>/messages:send`, by FCM's discovery document. The link stands in the data too,
 * since only browsers open the other one by themselves.
 */
export function messageBody({ token, content, timeToLive, now }: PushRequest, validateOnly = false): object {
  const { title, body, image, link, priority, collapse, androidChannel, apnsSound } = content;
  const seconds = Math.floor(Math.min(Math.max(timeToLive, 0), MAX_TTL) / 1000);
  const data = { ...content.data, ...(link === null ? {} : { link }) };
  const notification = { ...said('title', title), ...said('body', body), ...said('image', image) };
  const shown = Object.keys(notification).length > 0;
  return {
    ...(validateOnly ? { validateOnly } : {}),
    message: {
      ...(INSTALLATION_ID.test(token) ? { fid: token } : { token }),
      ...(shown ? { notification } : {}),
      ...(Object.keys(data).length === 0 ? {} : { data }),
      android: {
        ttl: `${seconds}s`,
        ...(priority === null ? {} : { priority: priority === 'high' ? 'HIGH' : 'NORMAL' }),
        ...said('collapseKey', collapse),
        ...(androidChannel === null ? {} : { notification: { channelId: androidChannel } }),
      },
      apns: {
        headers: {
          // Seconds since 1970; 0 would mean: do not keep it at all.
          'apns-expiration': String(seconds === 0 ? 0 : Math.floor(now / 1000) + seconds),
          ...(priority === null ? {} : { 'apns-priority': priority === 'high' ? '10' : '5' }),
          ...said('apns-collapse-id', collapse),
        },
        ...(apnsSound === null && image === null
          ? {}
          : { payload: { aps: { ...said('sound', apnsSound), ...(image === null ? {} : { 'mutable-content': 1 }) } } }),
        ...(image === null ? {} : { fcmOptions: { image } }),
      },
      webpush: {
        headers: {
          TTL: String(seconds),
          ...(priority === null ? {} : { Urgency: priority }),
          ...(collapse === null ? {} : { Topic: topicOf(collapse) }),
        },
        ...(link === null ? {} : { fcmOptions: { link } }),
      },
    },
  };
}

/** Bytes of what the limit of FCM counts: the notification and its data. */
export function payloadBytes({ title, body, image, link, data }: PushContent): number {
  const texts = [title, body, image, link, ...Object.entries(data).flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
}

const said = (name: string, value: string | null): Readonly<Record<string, string>> =>
  value === null ? {} : { [name]: value };

/**
 * RFC 8030 5.4: at most 32 characters of the URL-safe base64 alphabet. A key that does not fit is hashed, so that no two
 * keys share a topic: one notification would take the place of the other.
 */
const topicOf = (collapse: string): string =>
  /^[\w-]{1,32}$/.test(collapse) ? collapse : createHash('sha256').update(collapse).digest('base64url').slice(0, 32);
