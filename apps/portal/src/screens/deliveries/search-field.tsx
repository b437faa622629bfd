import { useEffect, useRef, useState, type ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { SOUGHT, SOUGHT_NAMES, soughtOf, withWord, type DeliverySearch, type Sought } from './delivery-search.ts';
import styles from './deliveries.module.css';

/** In milliseconds: so long does the field wait for the next key before the list is asked for. */
const PAUSE = 250;

const PLACEHOLDERS: Readonly<Record<Sought, string>> = {
  recipient: 'Address, or its beginning',
  person: 'Id of the person',
  unique_id: 'unique_id of the message',
  event: 'evt_…',
  notification: 'Name of the notification',
  reason: 'Such as hard_bounce',
};
const OPTIONS = SOUGHT.map((id) => ({ id, name: SOUGHT_NAMES[id] }));

/**
 * Looks for deliveries by one of several things. What is typed stands in the field at once and in the address a moment later; an
 * address that changes by itself shows in the field.
 */
export function SearchField({
  search,
  change,
}: {
  readonly search: DeliverySearch;
  readonly change: (next: DeliverySearch) => void;
}): ReactNode {
  const inAddress = soughtOf(search);
  const [by, setBy] = useState(inAddress);
  const [typed, setTyped] = useState(search[inAddress] ?? '');
  const current = useRef({ search, change });
  useEffect(() => {
    current.current = { search, change };
  });
  const word = search[by] ?? '';
  /** What this field wrote last: anything else in the address came from elsewhere. */
  const written = useRef(word);
  useEffect(() => {
    if (word === written.current) return;
    written.current = word;
    setTyped(word);
  }, [word]);
  useEffect(() => {
    const next = typed.trim();
    if (next === written.current) return undefined;
    const timer = setTimeout(() => {
      written.current = next;
      current.current.change(withWord(current.current.search, by, next));
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed, by]);
  return (
    <>
      <Select
        label="Search by"
        hidesLabel
        options={OPTIONS}
        chosen={by}
        onChoose={(next) => {
          if (next === by) return;
          // Searches the typed text in another field; the other filters stay.
          const rest = withWord(search, by, '');
          written.current = typed.trim();
          setBy(next);
          change(withWord(rest, next, typed.trim()));
        }}
      />
      <div className={cls(styles.search)} data-search>
        <Field
          label={SOUGHT_NAMES[by]}
          hidesLabel
          type="search"
          placeholder={PLACEHOLDERS[by]}
          autoComplete="off"
          value={typed}
          onChange={setTyped}
        />
      </div>
    </>
  );
}
