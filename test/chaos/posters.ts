import { setTimeout as pause } from 'node:timers/promises';
import { createChance } from '../harness/chance.ts';
import { createPosts, type Post, type Posts, type PostsOptions } from './posts.ts';

export type PostersOptions = PostsOptions & {
  /** Where the product listens now; waits while nobody knows. */
  readonly gateway: () => Promise<string>;
  readonly posters: number;
  /** Events of each poster in a second, at most. */
  readonly rate: number;
  /** So many in all; left out: until `finish`. */
  readonly events?: number | undefined;
  /** How long a post is sent again before its poster gives up; three minutes, unless told. */
  readonly patience?: number | undefined;
};

/** A request of a client: at which port of a gateway, and from when until when; `Infinity`: it is open. */
export type BookedRequest = { readonly port: number; readonly from: number; until: number };

export type Posters = {
  /** What was said, and what of it was acknowledged so far. */
  readonly posts: Posts;
  /** How many of them were acknowledged so far. */
  taken(): number;
  /** Every request so far, repetitions included. */
  readonly requests: readonly BookedRequest[];
  /** How many requests were cut off or refused, and so sent again. */
  cut(): number;
  /** What each refused one was answered, in order: its status, and whether it said when to come again. */
  refusals(): readonly string[];
  /**
   * Resolves when all are posted, or where no number was given when everything that was begun is acknowledged, with the
   * time at which that was so. Rejects where something never was, or got two ids.
   */
  finish(): Promise<number>;
};

/** Share of posts that are sent again after their 202, as by a client that never saw it. */
const REPEATED = 0.05;
/** Faults go on meanwhile, one after another: what is promised within 60 s counts from the last of them (`settle.ts`). */
const ACKNOWLEDGED_WITHIN = 180_000;
const TRY_AGAIN = 100;
const EXPORT_EVERY = 400;

/** Clients and a platform as the documentation wants them: what they say they say again until 202. */
export function startPosters(options: PostersOptions): Posters {
  const chance = createChance(options.seed ^ 0xa6a1);
  const posts = createPosts(options);
  let finishing = false;
  let cut = 0;
  const refusals: string[] = [];
  const requests: BookedRequest[] = [];

  /** The id that a 202 named; undefined where nobody can say whether it was taken. */
  async function send({ path, headers, body, name }: Post): Promise<string | undefined> {
    const url = await options.gateway();
    const request = { port: Number(new URL(url).port), from: Date.now(), until: Number.POSITIVE_INFINITY };
    requests.push(request);
    try {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status === 202) return ((await answer.json()) as { id: string }).id;
      if (answer.status < 500 && answer.status !== 429) {
        throw new RefusedError(`${name} was refused: ${answer.status} ${await answer.text()}`);
      }
      refusals.push(`${answer.status}${answer.headers.has('retry-after') ? ' with' : ' without'} Retry-After`);
      await answer.body?.cancel();
    } catch (error) {
      if (error instanceof RefusedError) throw error;
    } finally {
      request.until = Date.now();
    }
    cut += 1;
    return undefined;
  }

  async function sendUntilTaken(post: Post): Promise<string> {
    const { patience = ACKNOWLEDGED_WITHIN } = options;
    const deadline = Date.now() + patience;
    for (;;) {
      const id = await send(post);
      if (id !== undefined) return id;
      if (Date.now() > deadline) throw new Error(`no 202 within ${patience} ms: ${post.name}`);
      await pause(TRY_AGAIN * (0.5 + Math.random()));
    }
  }

  async function work(): Promise<void> {
    while (options.events === undefined ? !finishing : posts.made() < options.events) {
      const due = Date.now() + 1000 / options.rate;
      const post = posts.next();
      const again = chance() < REPEATED;
      const id = await sendUntilTaken(post);
      post.taken(id);
      if (again) {
        const second = await sendUntilTaken(post);
        if (post.idempotent && second !== id) throw new Error(`${post.name} got two ids: ${id} and ${second}`);
      }
      await pause(Math.max(0, due - Date.now()));
    }
  }

  async function exportAgain(): Promise<void> {
    for (const pages of posts.exports) {
      if (finishing) return;
      for (const page of pages) page.taken(await sendUntilTaken(page));
      await pause(EXPORT_EVERY);
    }
  }

  async function begin(): Promise<number> {
    for (const page of posts.firstSync) await sendUntilTaken(page);
    await Promise.all([exportAgain(), ...Array.from({ length: options.posters }, work)]);
    return Date.now();
  }

  const working = begin();
  // Looked at in `finish`; until then it must not end the process.
  working.catch(() => undefined);
  return {
    posts,
    taken: () => posts.acknowledged.length + posts.changes.length,
    requests,
    cut: () => cut,
    refusals: () => refusals,
    async finish() {
      finishing = true;
      return working;
    },
  };
}

class RefusedError extends Error {}
