import type { Joints, Reply, Request } from './protocol.ts';

export type CoalescedWrites = {
  readonly requests: readonly Request[];
  /** What changes threads instead of being copied. */
  readonly transfer: readonly ArrayBuffer[];
  /** The reply to each write, from those to `requests`. */
  readonly repliesOf: (answers: readonly Reply[]) => readonly (Reply | undefined)[];
};

/** Joins those writes of a batch that can be joined: one request for each name. Each such write has one argument. */
export function coalesceWrites(writes: readonly Request[], joints: Joints): CoalescedWrites {
  const requests: Request[] = [];
  const transfer: ArrayBuffer[] = [];
  /** Indexes of the writes in each request. */
  const placesOf: number[][] = [];
  const joined = new Map<string, number[]>();
  for (const [place, write] of writes.entries()) {
    const others = joined.get(write.name);
    if (others) {
      others.push(place);
      continue;
    }
    const places = [place];
    if (joints[write.name]) joined.set(write.name, places);
    placesOf.push(places);
    requests.push(write);
  }
  const argumentsOf = (places: readonly number[]): never[] => places.map((place) => writes[place]?.args[0] as never);
  for (const [at, { name }] of requests.entries()) {
    const joint = joints[name];
    if (!joint) continue;
    const one = joint.join(argumentsOf(placesOf[at] ?? []));
    requests[at] = { name, args: [one.argument] };
    transfer.push(...one.transfer);
  }
  return {
    requests,
    transfer,
    repliesOf(answers) {
      const replies: (Reply | undefined)[] = [];
      for (const [at, places] of placesOf.entries()) {
        const answer = answers[at];
        const joint = joints[requests[at]?.name ?? ''];
        const values = answer?.ok && joint ? joint.split(answer.value as never, argumentsOf(places)) : null;
        for (const [n, place] of places.entries()) replies[place] = values ? { ok: true, value: values[n] } : answer;
      }
      return replies;
    },
  };
}
