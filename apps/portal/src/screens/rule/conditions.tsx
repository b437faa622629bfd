import type { ComponentType, ReactNode } from 'react';
import { lazyPart, Part } from '../../ui/part.tsx';
import { useOrigin } from '../streams/use-origin.ts';
import { entityOf } from './entity.ts';
import type { Rule, RuleProps, StateCardProps } from './rule-props.ts';
import { useSeenFields } from './use-seen-fields.ts';
import { When } from './when.tsx';

/** A card with the keys of one form of rules that look at several events. It comes after the page. */
type StateCard = { readonly keys: readonly (keyof Rule)[]; readonly Shown: ComponentType<StateCardProps> };

/** In the order of the page. One more form of rules is one more line. */
const CARDS: readonly StateCard[] = [
  {
    keys: ['after', 'after_last', 'at', 'unless', 'if_past'],
    Shown: lazyPart(() => import('./after-page.ts').then(({ Then }) => Then)),
  },
  { keys: ['cooldown'], Shown: lazyPart(() => import('./after-page.ts').then(({ Cooldown }) => Cooldown)) },
];

/** Returns true if the rule looks at earlier events by a key of a card or by totals, so that one event does not show what it does. */
export const looksBack = (rule: Rule): boolean =>
  rule.totals !== undefined || CARDS.some(({ keys }) => keys.some((key) => rule[key] !== undefined));

const ROOTS = ['event', 'event_id', 'time'];
const KEYED_ROOTS = [...ROOTS, 'previous', 'totals'];
/** Names that a rule sees on a stream of changes. */
const CHANGE_ROOTS = [...KEYED_ROOTS, 'op', 'source'];

/** When a rule fires, what it waits for, and how soon it may fire again. */
export function Conditions(props: RuleProps): ReactNode {
  const { draft, rule } = props;
  const { hasChanges, body } = useOrigin(draft.workspace, rule.stream);
  const { fields, isKnown } = useSeenFields(props);
  // Warnings about fields need a stream that is published.
  const stream = isKnown ? props.stream : undefined;
  const entity = entityOf(rule, body);
  const hasPrevious = hasChanges || body?.key !== undefined || body?.from !== undefined;
  const roots = hasChanges ? CHANGE_ROOTS : hasPrevious ? KEYED_ROOTS : ROOTS;
  return (
    <>
      <When {...props} hasPrevious={hasPrevious} roots={roots} entity={entity} />
      {CARDS.map(({ keys, Shown }) => (
        <Part key={keys.join()}>
          <Shown {...props} stream={stream} entity={entity} fields={fields} roots={roots} />
        </Part>
      ))}
    </>
  );
}
