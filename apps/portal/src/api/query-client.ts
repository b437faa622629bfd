import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { Refusal } from './client.ts';
import { setAnswering, setSignedIn } from './session.ts';

function notice(error: Error): void {
  if (!(error instanceof Refusal)) return;
  setAnswering(error.status !== 0);
  if (error.status === 401) setSignedIn(false);
}
const noticeAnswer = (): void => setAnswering(true);

/** A server that is away for a moment is asked again; what it refused stays refused. */
const isWorthAnother = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof Refusal && error.status > 0 && error.status < 500);

/** All that the server said, by the path of the API: there is no other store of it. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: notice, onSuccess: noticeAnswer }),
  mutationCache: new MutationCache({ onError: notice, onSuccess: noticeAnswer }),
  defaultOptions: {
    // A browser that takes itself for offline may still reach a server of its own machine; whether it answers is what counts.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      retry: isWorthAnother,
      retryDelay: (failures) => 500 * 2 ** failures,
      staleTime: 2_000,
    },
  },
});
