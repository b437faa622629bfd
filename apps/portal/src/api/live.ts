import { useEffect, useRef, useSyncExternalStore } from 'react';
import { createLiveStream, type Follower, type LiveState, type LiveStream, type LiveTopic } from './live-stream.ts';

/** Milliseconds after which a hidden tab closes its stream, because a browser has only six connections per host. */
const UNSEEN = 10_000;

const streams = new Map<string, LiveStream>();

function streamOf(workspace: string): LiveStream {
  const known = streams.get(workspace);
  if (known) return known;
  const stream = createLiveStream(workspace, (url, init) => fetch(url, init));
  stream.look(document.visibilityState === 'visible');
  streams.set(workspace, stream);
  return stream;
}

let unseen: ReturnType<typeof setTimeout> | undefined;
document.addEventListener('visibilitychange', () => {
  clearTimeout(unseen);
  const lookAll = (isLooking: boolean): void => streams.forEach((stream) => stream.look(isLooking));
  if (document.visibilityState === 'visible') lookAll(true);
  else unseen = setTimeout(() => lookAll(false), UNSEEN);
});

/** How the stream of a workspace is; nobody is asked to open it by this. */
export function useLiveState(workspace: string): LiveState {
  const stream = streamOf(workspace);
  return useSyncExternalStore(stream.watch, stream.state);
}

/** When a lost stream is tried again, in milliseconds since the epoch. */
export function useRetryAt(workspace: string): number | null {
  const stream = streamOf(workspace);
  return useSyncExternalStore(stream.watch, stream.retryAt);
}

/**
 * Follows a list of a workspace (`-` for all) while the component is mounted; null follows nothing. Returns the state
 * of the stream.
 */
export function useFollow(workspace: string, topic: LiveTopic | null, follower: Follower): LiveState {
  const current = useRef(follower);
  useEffect(() => {
    current.current = follower;
  });
  useEffect(
    () =>
      topic === null
        ? undefined
        : streamOf(workspace).follow(topic, {
            changed: (rows) => current.current.changed(rows),
            reset: () => current.current.reset(),
          }),
    [workspace, topic],
  );
  return useLiveState(workspace);
}

/**
 * Calls back after changes that match `isMeant`, at most once per `span` milliseconds and never concurrently. The last
 * change always causes a call. Returns the state of the stream; while it is not live, the caller must poll.
 */
export function useOnChange(
  workspace: string,
  topic: LiveTopic | null,
  span: number,
  act: () => Promise<unknown>,
  isMeant: (row: unknown) => boolean = () => true,
): LiveState {
  const current = useRef(act);
  useEffect(() => {
    current.current = act;
  });
  const waiting = useRef<{ isWanted: boolean; isResting: boolean; timer?: ReturnType<typeof setTimeout> }>({
    isWanted: false,
    isResting: false,
  });
  useEffect(() => {
    const held = waiting.current;
    return () => {
      clearTimeout(held.timer);
      held.isResting = false;
      held.isWanted = false;
    };
  }, []);
  function want(): void {
    const held = waiting.current;
    held.isWanted = true;
    if (held.isResting) return;
    held.isResting = true;
    held.isWanted = false;
    const rest = (): void => {
      held.timer = setTimeout(() => {
        held.isResting = false;
        if (held.isWanted) want();
      }, span);
    };
    current.current().then(rest, rest);
  }
  return useFollow(workspace, topic, {
    changed: (rows) => {
      if (rows.some(isMeant)) want();
    },
    reset: want,
  });
}
