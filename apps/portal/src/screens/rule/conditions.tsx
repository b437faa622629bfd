import type { ReactNode } from 'react';
import { lazyPart, Part } from '../../ui/part.tsx';
import { useOrigin } from '../streams/use-origin.ts';
import { entityOf } from './entity.ts';
import type { RuleProps, StateCardProps } from './rule-props.ts';
import { useSeenFields } from './use-seen-fields.ts';
import { When } from './when.tsx';

/**
 * The cards of the keys that need several events of an entity, in the order of the page. Each owns the keys of one form of rules. They
 * come after the page.
 */
const CARDS = [
  lazyPart<StateCardProps>(() => import('./then.tsx').then(({ Then }) => Then)),
  lazyPart<StateCardProps>(() => import('./cooldown.tsx').then(({ Cooldown }) => Cooldown)),
];

const ROOTS = ['event', 'event_id', 'time'];
const KEYED_ROOTS = [...ROOTS, 'previous'];
/** Names that a rule sees on a stream of changes. */
const CHANGE_ROOTS = [...KEYED_ROOTS, 'op', 'source'];

/** When a rule fires, what it waits for, and how soon it may fire again. */
export function Conditions(props: RuleProps): ReactNode {
  const { draft, rule } = props;
  const { hasChanges, body } = useOrigin(draft.workspace, rule.stream);
  const { fields } = useSeenFields(props);
  const entity = entityOf(rule, body);
  const hasPrevious = hasChanges || body?.key !== undefined || body?.from !== undefined;
  const roots = hasChanges ? CHANGE_ROOTS : hasPrevious ? KEYED_ROOTS : ROOTS;
  return (
    <>
      <When {...props} hasPrevious={hasPrevious} roots={roots} />
      {CARDS.map((Shown, at) => (
        <Part key={at}>
          <Shown {...props} entity={entity} fields={fields} roots={roots} />
        </Part>
      ))}
    </>
  );
}
