import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import type { Previewed } from './queries.ts';
import styles from './templates.module.css';

/** Names beyond so many are counted. */
const MOST = 60;

function Names({ names, isBad = false }: { readonly names: readonly string[]; readonly isBad?: boolean }): ReactNode {
  return (
    <span className={cls(styles.variables, isBad && styles.missing)}>
      {names.slice(0, MOST).map((name) => (
        <Id key={name}>{name}</Id>
      ))}
      {names.length > MOST && <span>and {names.length - MOST} more</span>}
    </span>
  );
}

/** What a template looks up, what this event lacks of it, and what events of the stream have besides. */
export function Variables({
  message: { fields, missing, notes },
  available,
  inNewest,
}: {
  readonly message: Pick<Previewed, 'fields' | 'missing' | 'notes'>;
  readonly available: readonly string[];
  /** What of them the newest events lack; null: it is not known yet. */
  readonly inNewest: ReactNode;
}): ReactNode {
  const unused = available.filter((path) => !fields.includes(path));
  return (
    <Card title="Variables">
      <Facts
        facts={[
          ['Used', fields.length === 0 ? 'none' : <Names key="used" names={fields} />],
          ['Missing in this event', missing.length === 0 ? 'none' : <Names key="missing" names={missing} isBad />],
          ['Last 1,000 events', inNewest],
          ['Available', unused.length === 0 ? null : <Names key="available" names={unused} />],
        ]}
      />
      {notes.map((note) => (
        <p key={note} className={cls(styles.quiet)}>
          {note}
        </p>
      ))}
    </Card>
  );
}
