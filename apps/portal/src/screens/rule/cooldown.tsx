import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Faults } from './deadlines.tsx';
import { NoEntity } from './no-entity.tsx';
import { textOf, type StateCardProps } from './rule-props.ts';
import { SpanField } from './span-field.tsx';
import { readSpan, spanText } from './spans.ts';
import styles from './rule.module.css';

const UNTIL_FALSE = 'until_false';
const WAYS = [
  { id: 'none', name: 'none' },
  { id: UNTIL_FALSE, name: 'until the condition is false' },
  { id: 'span', name: 'for a while' },
] as const;
type Way = (typeof WAYS)[number]['id'];
const FIRST_SPAN = '1h';

/** How soon the rule may fire again for the same entity. */
export function Cooldown(props: StateCardProps): ReactNode {
  const { draft, name, rule, entity, change } = props;
  const cooldown = textOf(rule.cooldown);
  const way: Way = cooldown === '' ? 'none' : cooldown === UNTIL_FALSE ? UNTIL_FALSE : 'span';
  const faults = draft.faultsAt(`rules.${name}.cooldown`);
  const write = (next: string): void =>
    change(({ cooldown: _before, ...before }) => (next === '' ? before : { ...before, cooldown: next }));
  const noun = entity.noun === '' ? 'key' : entity.noun;
  return (
    <Card title="Cooldown">
      <div className={cls(styles.sentence, styles.labelled)}>
        <NativeSelect
          label={`For the same ${noun}${entity.key === null ? '' : ` (${entity.key})`}`}
          options={WAYS}
          value={way}
          isDisabled={entity.off !== null && way === 'none'}
          onChange={(next) => write(next === 'none' ? '' : next === UNTIL_FALSE ? UNTIL_FALSE : FIRST_SPAN)}
        />
        {way === 'span' && (
          <SpanField
            what="of the cooldown"
            span={readSpan(cooldown)}
            isWrong={faults.length > 0}
            onChange={(next) => write(spanText(next))}
          />
        )}
        <Faults faults={faults} />
      </div>
      <p className={cls(styles.note)}>
        {entity.off !== null && way === 'none' ? `${entity.off} A cooldown needs one with a key.` : MEANINGS[way](noun)}
      </p>
      {entity.off !== null && way !== 'none' && <NoEntity {...props} off={entity.off} what="have a cooldown" isUsed />}
    </Card>
  );
}

const MEANINGS: Readonly<Record<Way, (noun: string) => string>> = {
  none: () => 'The rule fires at each matching event.',
  until_false: (noun) => `The rule fires once, and again only after an event of the same ${noun} that does not match.`,
  span: (noun) => `Within this time after it fired, the rule does not fire again for the same ${noun}.`,
};
