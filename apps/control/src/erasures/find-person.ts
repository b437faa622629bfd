import { formsOf, formsOnChannels, plainAddress } from '@carillon/domain/channels';
import { ERASED_PERSON, nameHash, type ErasureSubject } from '@carillon/domain/erasures';
import { CarillonError } from '@carillon/kernel';
import type { DeliveryFilter } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';

type Ports = Pick<ControlPorts, 'ids' | 'ledger' | 'slice'>;

const PAGE = 500;

export type FoundPerson = {
  readonly subject: ErasureSubject;
  /** Addresses of the person to which other people are notified too. They stay. */
  readonly sharedAddresses: number;
};

type Named = { readonly person: string; readonly to: readonly string[] };

async function namedBy(filter: DeliveryFilter, { ledger, slice }: Ports): Promise<readonly Named[]> {
  const named = new Map<string, Named>();
  for (let cursor: string | undefined; ;) {
    const { items, next } = await ledger.list(filter, PAGE, cursor);
    for (const { intent, attempts } of items) {
      const to = [intent.to, ...attempts.map((attempt) => attempt.to)].filter((address) => address !== null);
      const entry = { person: intent.person, to: [...new Set(to)] };
      named.set(JSON.stringify(entry), entry);
    }
    if (next === null) return [...named.values()];
    cursor = next;
    if (slice.isExpired()) await slice.yield();
  }
}

/**
 * Finds under which names and addresses a person is notified: a user id has the addresses to which it was notified, and an address has its
 * user id. Throws CarillonError `invalid_request` for an address of several people.
 */
export async function findPerson(text: string, workspace: string | null, ports: Ports): Promise<FoundPerson> {
  const scope: DeliveryFilter = workspace === null ? {} : { workspace };
  const keyed = (...parts: readonly string[]): string => ports.ids.keyed(...parts);
  const names = new Set([text]);
  const addressed = async (address: string): Promise<readonly string[]> => {
    const forms = formsOnChannels(address).flatMap(([, written]) => written);
    const named = await namedBy({ ...scope, to: [...new Set(forms)], toIsWhole: true }, ports);
    const people = new Set(named.map(({ person }) => person));
    return [...people].filter((person) => person !== ERASED_PERSON && plainAddress(person) === null);
  };
  const people = await addressed(text);
  if (people.length > 1) {
    throw new CarillonError(
      'invalid_request',
      `person: ${people.length} people are notified at this address; name one by user id`,
      { pointer: '/person' },
    );
  }
  for (const person of people) names.add(person);
  let sharedAddresses = 0;
  for (const name of Array.from(names)) {
    const addresses = new Set((await namedBy({ ...scope, person: name }, ports)).flatMap(({ to }) => to));
    for (const address of addresses) {
      const others = (await addressed(address)).filter((person) => !names.has(person));
      if (others.length > 0) sharedAddresses += 1;
      else names.add(address);
    }
  }
  const forms = [...names].flatMap((name) => [name, ...formsOf('email', name), ...formsOf('sms', name)]);
  const hashes = [...new Set(forms.map((form) => nameHash(form, keyed)))];
  return { subject: { workspace, hashes }, sharedAddresses };
}
