import { isOfChanges, rowOf, takesValue, TESTS, type Condition } from './form-rows.ts';
import type { FormChange } from './queries.ts';

/** A line of a form in a sentence's words: `event.total is more than 100`. */
export function conditionInWords(condition: Condition): string {
  const row = rowOf(condition);
  if (row === null) return condition.kind === 'expression' ? condition.source : '';
  const { field, test, value, from, entry } = row;
  if (isOfChanges(test)) {
    return [field, TESTS[test], ...(from === '' ? [] : ['from', from]), ...(value === '' ? [] : ['to', value])].join(
      ' ',
    );
  }
  if (test !== 'some') return [field, TESTS[test], ...(takesValue(test) ? [value] : [])].join(' ');
  const within = entry.field === '' ? 'it' : entry.field;
  return `${field} ${TESTS.some} ${within} ${TESTS[entry.test]} ${value}`;
}

const placeWords = (at: readonly number[]): string => `condition ${at.map((one) => one + 1).join('.')}`;

/** Describes an edit of the form for a user who has to repeat it. */
export function formChangeWords(change: FormChange): string {
  switch (change.kind) {
    case 'replace':
      return `${placeWords(change.at)} becomes: ${conditionInWords(change.condition)}`;
    case 'remove':
      return `${placeWords(change.at)} is removed`;
    case 'add':
      return `added: ${conditionInWords(change.condition)}`;
    case 'group':
      return `${placeWords(change.at)} or: ${conditionInWords(change.condition)}`;
    case 'match':
      return `match ${change.match}${change.at.length === 0 ? '' : ` of ${placeWords(change.at)}`}`;
  }
}
