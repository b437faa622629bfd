import { useQuery } from '@tanstack/react-query';
import { useIsMeKnown, useMay } from '../../../api/me.ts';
import { peopleQuery } from './queries.ts';

const NOBODY: ReadonlyMap<string, string> = new Map();

/** Names of people by id, for whoever may see them; others see ids. */
export function useNamesOfPeople(): ReadonlyMap<string, string> {
  const off = useMay('people', null);
  const isKnown = useIsMeKnown();
  const { data } = useQuery({ ...peopleQuery, enabled: isKnown && off === null });
  return data ? new Map(data.items.map(({ id, name }) => [id, name])) : NOBODY;
}
