import type { OutsideServers } from './outside-servers.ts';
import { startPosters, type Posters, type PostersOptions } from './posters.ts';
import { createReporter, type Reporter } from './reporter.ts';

/** Clients that post, and what follows an SMS: reports of Twilio and opt-outs. */
export type Clients = { readonly posters: Posters; readonly reporter: Reporter };

export function startClients(servers: Pick<OutsideServers, 'handleSms'>, options: PostersOptions): Clients {
  const posters = startPosters(options);
  const { seed, gateway } = options;
  const reporter = createReporter({ seed, gateway, optedOut: posters.posts.optedOut });
  servers.handleSms(reporter.onSms);
  return { posters, reporter };
}
