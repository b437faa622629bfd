import type { ControlPorts } from './ports.ts';

/** Matches the id of a person who signs in to the portal. */
const PERSON = /^per_[0-9A-Z]{26}$/;

/** Returns the name of a person by id, or the text itself if it is no id of a person who is there. Each person is read once. */
export function personNames({ people }: Pick<ControlPorts, 'people'>): (by: string) => Promise<string> {
  const names = new Map<string, Promise<string>>();
  const read = async (id: string): Promise<string> => (await people.find('person', id))?.body.name || id;
  return (by) => {
    if (!PERSON.test(by)) return Promise.resolve(by);
    const name = names.get(by) ?? read(by);
    names.set(by, name);
    return name;
  };
}
