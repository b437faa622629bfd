import type { Schemas } from '../../api/client.ts';
import { humane } from '../../ui/state-words.ts';

type Letter = Pick<
  Schemas['DeadLetter'],
  'partner' | 'rule' | 'notification' | 'person' | 'people' | 'event_id' | 'stage'
>;

/** Such as "ada@example.com and 2 more". */
export function peopleWords({ person, people }: Pick<Letter, 'person' | 'people'>): string {
  if (person === null) return '';
  return people > 1 ? `${person} and ${(people - 1).toLocaleString('en')} more` : person;
}

/** Such as "crm for cart.abandoned · ada@example.com · evt_…". */
export function letterWords(letter: Letter): string {
  const about = [letter.partner, letter.rule ?? letter.notification].filter((part) => part !== null).join(' for ');
  const parts = [about, peopleWords(letter), letter.event_id ?? ''].filter((part) => part !== '');
  return parts.length === 0 ? humane(letter.stage) : parts.join(' · ');
}
