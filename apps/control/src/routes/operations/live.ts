import { LIVE_TOPICS } from '@carillon/contracts';
import { CarillonError, parseDuration, type Duration } from '@carillon/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Access } from '../../access/access.ts';
import { lacking } from '../../access/guard.ts';
import { maskAnswer } from '../../access/masking/mask-answer.ts';
import { PERMISSIONS, type Permission } from '../../access/permission.ts';
import { principalOf, type Principal } from '../../access/principal.ts';
import { EVERY_WORKSPACE, visibleScopeOf } from '../../access/visible-scope.ts';
import type { Cursors } from '../../cursors.ts';
import { createFeeds, type LiveRow, type Subscription } from '../../live/feeds.ts';
import { liveLists, type LivePorts } from '../../live/lists.ts';
import { createLiveStream } from '../../live/live-stream.ts';
import type { LiveTopic } from '../../live/source.ts';
import type { ControlPorts } from '../../ports.ts';
import { acrossWorkspaces, someOfWords, type ApiServer } from '../app.ts';

const EVENT_STREAM = 'text/event-stream';
/** How often a stream asks again who it is for: a session that ended and a role that changed end it within twice of this. */
const ASKED_AGAIN_EVERY: Duration = 800;
/** Time for which all streams of one credential share the result of its check. */
const ASKED_FOR: Duration = 400;
/** A reader that does not take the end of its stream is cut off after this. */
const ENDS_WITHIN: Duration = 300;
/** Maximum streams of one person, token or machine. A browser has one per visible tab. */
export const MAX_STREAMS_OF_ONE = 20;
/** Maximum positions of a stream. Positions are encrypted together and advance together. */
const MAX_PLACES = 100;
/** Streams of one process. */
export const MAX_STREAMS = 1_000;

const query = z.strictObject({
  topics: someOfWords('topic', LIVE_TOPICS).describe('One list, or several with commas'),
  for: z.string().max(40).optional().describe('Ends the stream after this time, such as `30s`. Defaults to no end'),
});

export type LiveRoute = {
  /** Ends all streams; further ones end at once. */
  end(): void;
};

/** Lists that tell their changes, as server-sent events. */
export function liveRoute(
  app: ApiServer,
  access: Access,
  cursors: Cursors,
  ports: LivePorts & Pick<ControlPorts, 'clock' | 'watch'>,
): LiveRoute {
  const lists = liveLists(ports);
  const feeds = createFeeds(lists, (error) => ports.watch.trouble('follow a list', error));
  const open = new Set<() => void>();
  const admit = createAdmission(open);
  const textOf = maskedRows(lists);
  const principals = sharedPrincipals(access);
  const seal = sealedOnce(cursors);
  let hasEnded = false;

  app.get(
    '/v1/workspaces/:workspace/live',
    {
      config: { permission: 'read', across: true, streams: true },
      schema: {
        operationId: 'followLists',
        tags: ['Live'],
        summary:
          'Changes of lists as server-sent events: `event` is the topic, `data` a row as its list has it; `reset` asks the client to read the list again. Continues after `Last-Event-ID`',
        produces: [EVENT_STREAM],
        params: acrossWorkspaces,
        querystring: query,
        response: { 200: z.string() },
      },
    },
    async (request, reply) => {
      const { topics, for: lasts } = request.query;
      const principal = principalOf(request);
      const sight = visibleScopeOf(request);
      const asked = request.params.workspace;
      const workspace = asked === EVERY_WORKSPACE ? null : asked;
      const known = [...sight.names];
      requireTopics(
        topics.map((topic) => lists[topic].permission),
        principal,
        workspace,
        known,
      );
      const span = lasts === undefined ? undefined : spanOf(lasts);
      const place = JSON.stringify(['live', asked]);
      const from = positionsOf(request, (text) => cursors.open(text, place));
      const giveBack = admit(principal);
      const stream = createLiveStream(
        (topic, row) => textOf(principal, topic, row),
        (positions) => seal(JSON.stringify(positions), place),
      );
      const subscriptions: Subscription[] = [];
      const timers: NodeJS.Timeout[] = [];
      let isClosed = false;
      const close = (): void => {
        if (isClosed) return;
        isClosed = true;
        open.delete(close);
        giveBack();
        for (const timer of timers) clearTimeout(timer);
        for (const one of subscriptions) one.end();
        stream.end();
        // A reader that takes nothing does not see the end either.
        setTimeout(() => reply.raw.destroyed || reply.raw.writableFinished || reply.raw.destroy(), ENDS_WITHIN).unref();
      };
      open.add(close);
      reply.raw.on('close', close);
      try {
        for (const topic of new Set(topics)) {
          const kept = from?.[topic] ?? (from === null ? undefined : null);
          const one = await feeds.subscribe(topic, workspace, kept, (change) => stream.change(topic, change));
          subscriptions.push(one);
          stream.begin(topic, one.position, one.missed);
        }
      } catch (error) {
        close();
        throw error;
      }
      if (isClosed || hasEnded) {
        for (const one of subscriptions) one.end();
        close();
      }
      timers.push(setInterval(() => void stillMay().then((may) => may || close(), close), ASKED_AGAIN_EVERY));
      if (span !== undefined) timers.push(setTimeout(close, span));
      if (isClosed) for (const timer of timers) clearTimeout(timer);
      return send(reply, stream.text());

      /** Returns true if the caller and its permissions are unchanged, because they decide what the stream shows. */
      async function stillMay(): Promise<boolean> {
        const now = await principals(request);
        return now !== null && rightsOf(now, known) === rightsOf(principal, known);
      }
    },
  );

  return {
    end() {
      hasEnded = true;
      for (const close of open) close();
    },
  };
}

/** Throws unless the caller may read the rows of each topic, in this workspace or in one of several. */
function requireTopics(
  permissions: readonly Permission[],
  principal: Principal,
  workspace: string | null,
  known: readonly string[],
): void {
  for (const permission of permissions) {
    const isSeen =
      workspace === null ? known.some((one) => principal.may(permission, one)) : principal.may(permission, workspace);
    if (!isSeen && !principal.may(permission, null)) throw lacking([permission]);
  }
}

/**
 * Counts live streams by caller. The returned function admits one more stream and returns what frees its place. It throws if the
 * caller or the process has too many.
 */
function createAdmission(open: ReadonlySet<unknown>): (principal: Principal) => () => void {
  const countOf = new Map<string, number>();
  return ({ actor }) => {
    const who = `${actor.kind} ${actor.id}`;
    const count = countOf.get(who) ?? 0;
    if (count >= MAX_STREAMS_OF_ONE) {
      throw new CarillonError('rate_limited', `you have ${count} live streams open: close one`, { retryAfter: 2_000 });
    }
    if (open.size >= MAX_STREAMS) throw new CarillonError('overloaded', 'too many live streams are open');
    countOf.set(who, count + 1);
    return () => {
      const left = (countOf.get(who) ?? 1) - 1;
      if (left > 0) countOf.set(who, left);
      else countOf.delete(who);
    };
  };
}

/**
 * Returns the text of a row for a caller. The masked text is computed once for all callers who get it, because a row
 * belongs to one workspace and masking has no other input.
 */
function maskedRows(
  lists: ReturnType<typeof liveLists>,
): (principal: Principal, topic: LiveTopic, row: LiveRow) => string | null {
  const masked = new WeakMap<LiveRow, string>();
  return (principal, topic, row) => {
    const { permission, schema } = lists[topic];
    if (!principal.may(permission, row.workspace)) return null;
    if (principal.may('bodies', row.workspace)) return row.text;
    const known = masked.get(row);
    if (known !== undefined) return known;
    const text = JSON.stringify(maskAnswer(principal, schema, row.body, true));
    masked.set(row, text);
    return text;
  };
}

function send(reply: FastifyReply, text: AsyncGenerator<string>): FastifyReply {
  return reply
    .type(`${EVENT_STREAM}; charset=utf-8`)
    .header('x-accel-buffering', 'no')
    .send(Readable.from(text, { objectMode: false, highWaterMark: 1 }));
}

function spanOf(text: string): Duration {
  const span = parseDuration(text);
  if (span.ok) return span.value;
  throw new CarillonError('invalid_request', `for: expected a duration such as 30s or 5m; found ${text}`, {
    pointer: '/for',
  });
}

/** Returns the client's position in each list. Null for a new client. An invalid cursor counts as a very old one. */
function positionsOf(
  { headers }: FastifyRequest,
  openCursor: (text: string) => string,
): Readonly<Record<string, unknown>> | null {
  const text = headers['last-event-id'];
  if (typeof text !== 'string' || text === '') return null;
  try {
    return JSON.parse(openCursor(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

const rightsOf = (principal: Principal, workspaces: readonly string[]): string =>
  JSON.stringify(
    [null, ...workspaces].map((one) => PERMISSIONS.filter((permission) => principal.may(permission, one))),
  );

/** Encrypts each position once for all streams at it. */
function sealedOnce(cursors: Cursors): (text: string, place: string) => string {
  const sealed = new Map<string, string>();
  return (text, place) => {
    const key = JSON.stringify([text, place]);
    const known = sealed.get(key) ?? cursors.seal(text, place);
    if (sealed.size >= MAX_PLACES) sealed.clear();
    sealed.set(key, known);
    return known;
  };
}

/** Identifies the caller once for all concurrent streams of one credential. */
function sharedPrincipals(access: Access): (request: FastifyRequest) => Promise<Principal | null> {
  const asked = new Map<string, Promise<Principal | null>>();
  return (request) => {
    const { authorization = '', cookie = '' } = request.headers;
    const credential = JSON.stringify([authorization, cookie]);
    const now = asked.get(credential) ?? access.stillWho(request);
    if (!asked.has(credential)) {
      asked.set(credential, now);
      setTimeout(() => asked.delete(credential), ASKED_FOR).unref();
    }
    return now;
  };
}
