import { useRef, type ReactNode } from 'react';
import { lazyPart, Part } from '../../ui/part.tsx';
import type { TotalLines } from './form.tsx';
import type { Condition } from './form-rows.ts';
import type { Rule, StateCardProps } from './rule-props.ts';
import { FIRST_COUNT, withNewTotal, withoutUnread, type TotalBody } from './totals.ts';

/** Comes when a condition reads a total. */
const TotalLine = lazyPart(() => import('./after-page.ts').then(({ TotalLine: loaded }) => loaded));

/** Returns the name of the total that a condition compares with a number. Null: it is another condition. */
function totalOf(condition: Condition, { totals = {} }: Rule): string | null {
  if (condition.kind !== 'compare') return null;
  const [root, name, ...more]: readonly (string | number)[] = condition.path;
  if (root !== 'totals' || typeof name !== 'string' || more.length > 0) return null;
  return Object.hasOwn(totals, name) && typeof condition.value === 'number' ? name : null;
}

/** How a form of the rule shows, adds and removes conditions on totals. */
export function useTotalLines(given: StateCardProps): {
  readonly lines: TotalLines;
  /** Writes a key of the rule after a change of its form. Drops totals whose line was removed, if nothing reads them any more. */
  readonly write: (next: (before: Rule) => Rule) => void;
} {
  const { rule, entity, change } = given;
  const removed = useRef(new Set<string>());
  return {
    write: (next) =>
      change((before) => {
        const names = removed.current;
        removed.current = new Set();
        return names.size === 0 ? next(before) : withoutUnread(next(before), names);
      }),
    lines: {
      off: entity.off === null ? null : `${entity.off} Counting needs one with a key.`,
      isTotal: (condition) => totalOf(condition, rule) !== null,
      add: () => {
        const { name } = withNewTotal(rule);
        change((before) => withNewTotal(before).rule);
        return { kind: 'compare', path: ['totals', name], op: '>=', value: FIRST_COUNT } as unknown as Condition;
      },
      render: (condition, line): ReactNode => {
        const name = totalOf(condition, rule);
        if (name === null) return null;
        const body = rule.totals?.[name] as TotalBody;
        return (
          <Part>
            <TotalLine
              {...given}
              {...line}
              condition={condition as Condition & { readonly kind: 'compare' }}
              total={name}
              body={body}
              onRemove={() => {
                removed.current.add(name);
                line.onRemove();
              }}
              onBody={(next) => change((before) => ({ ...before, totals: { ...before.totals, [name]: next } }))}
            />
          </Part>
        );
      },
    },
  };
}
