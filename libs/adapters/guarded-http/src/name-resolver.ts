import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { Duration } from '@carillon/kernel';

/** Every address of a name; empty, or a rejection, where there is none. */
export type ResolveName = (host: string) => Promise<readonly { readonly address: string }[]>;

export type NameResolverOptions = {
  readonly hostsFile?: string;
  readonly resolvConf?: string;
  /** Name servers as `address:port`; left out: those of `resolv.conf`. */
  readonly servers?: readonly string[];
  /** A name that takes longer has no address. */
  readonly deadline?: Duration;
};

const DEADLINE: Duration = 5_000;
const LOCALHOST = [{ address: '127.0.0.1' }, { address: '::1' }];

/**
 * Names by the hosts file, then by DNS with the search domains of `resolv.conf`. The machine's own look-up takes one of
 * the few threads of the process for as long as a name server keeps it waiting, and a tenant chooses the name server:
 * here nothing but a socket waits.
 */
export function createNameResolver(options: NameResolverOptions = {}): ResolveName {
  const { hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf', servers, deadline = DEADLINE } = options;

  return async (host) => {
    const name = host.toLowerCase().replace(/\.$/, '');
    const listed = addressesIn(await textOf(hostsFile), name);
    if (listed.length > 0) return listed;
    if (name === 'localhost' || name.endsWith('.localhost')) return LOCALHOST;
    const search = host.endsWith('.') ? [] : searchDomainsIn(await textOf(resolvConf));
    const longer = search.map((domain) => `${name}.${domain}`);
    const resolver = new Resolver({ timeout: 1_000, tries: 3 });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), deadline);
    try {
      for (const wanted of name.includes('.') ? [name, ...longer] : [...longer, name]) {
        const found = await addressesOf(wanted, resolver);
        if (found.length > 0) return found;
      }
      return [];
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Addresses of both families. Rejects where none came and a server keeps us waiting: no further name is tried then. */
async function addressesOf(name: string, resolver: Resolver): Promise<readonly { readonly address: string }[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found.map((address) => ({ address }));
  const late = answers.find((answer) => answer.status === 'rejected' && isLate(answer.reason));
  if (late?.status === 'rejected') throw late.reason;
  return [];
}

const isLate = (error: unknown): boolean =>
  ['ETIMEOUT', 'ECANCELLED'].includes((error as { readonly code?: string } | null)?.code ?? '');

/** A file that is not there says nothing. */
const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const wordsIn = (text: string): readonly (readonly string[])[] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .toLowerCase()
      .split(/\s+/),
  );

const addressesIn = (hosts: string, name: string): readonly { readonly address: string }[] =>
  wordsIn(hosts).flatMap(([address = '', ...names]) => (names.includes(name) ? [{ address }] : []));

/** The last line that names some counts. */
const searchDomainsIn = (text: string): readonly string[] =>
  wordsIn(text)
    .findLast(([key]) => key === 'search' || key === 'domain')
    ?.slice(1)
    .map((domain) => domain.replace(/\.$/, ''))
    .filter((domain) => domain !== '') ?? [];
