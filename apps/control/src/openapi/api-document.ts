import type { Access } from '../access/access.ts';
import { NO_MAIL } from '../access/people/person-mail.ts';
import { buildControl } from '../build.ts';
import type { ControlConfig, ControlPorts } from '../ports.ts';
import type { ApiDocument } from './complete-document.ts';

const NOWHERE: ControlConfig = {
  version: '',
  backend: 'embedded',
  host: '127.0.0.1',
  port: 0,
  eventsUrl: 'http://127.0.0.1:7400/events',
  ownerToken: '',
  portalFolder: '/nowhere',
  docsFolder: '/nowhere',
};

const unasked = (): never => {
  throw new Error('internal error: the API document describes routes and does not run them');
};
const NOBODY: Access = {
  who: async () => null,
  stillWho: async () => null,
  openSession: unasked,
  openFor: unasked,
  closeSession: unasked,
  makeLink: unasked,
  passwords: { hash: unasked, matches: unasked },
  guessing: { attempt: unasked },
  mail: NO_MAIL,
  links: { pending: unasked, make: unasked, find: unasked, drop: unasked, use: unasked },
  factors: { count: unasked, forget: unasked, refuseLocked: unasked },
};

/** The description of the management API, without log and stores: from the routes alone. */
export async function apiDocument(version: string): Promise<ApiDocument> {
  // Routes are declared without ports, because no request is served.
  const { app, description } = await buildControl({ ...NOWHERE, version }, {} as ControlPorts, { access: NOBODY });
  try {
    return description();
  } finally {
    await app.close();
  }
}
