import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Menu } from '../../../ui/menu.tsx';
import { NativeSelect } from '../../../ui/native-select.tsx';
import { SpanField } from '../span-field.tsx';
import type { Span } from '../spans.ts';
import rule from '../rule.module.css';

/** An event to choose from. */
export type CameEvent = { readonly id: string; readonly name: string };

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Adds an event to the timeline, or lets time pass. */
export function AddToPlan({
  noun,
  came,
  isBusy,
  onMinimum,
  onPasted,
  onCame,
  onPass,
}: {
  /** What an event is about: `order`. */
  readonly noun: string;
  /** Newest events of the stream. */
  readonly came: readonly CameEvent[];
  readonly isBusy: boolean;
  readonly onMinimum: () => void;
  readonly onPasted: () => void;
  /** Adds the newest events of the entity of this event. */
  readonly onCame: (id: string) => void;
  /** `span` in milliseconds. */
  readonly onPass: (span: number) => void;
}): ReactNode {
  const [isChoosing, setChoosing] = useState(false);
  const [chosen, setChosen] = useState('');
  const [span, setSpan] = useState<Span>({ amount: '1', unit: 'h' });
  const amount = /^\d{1,6}$/.test(span.amount.trim()) ? Number(span.amount) : 0;
  const id = came.some((event) => event.id === chosen) ? chosen : (came[0]?.id ?? '');
  const choices = [
    { id: 'pasted', name: 'An event to type or paste' },
    { id: 'minimum', name: 'The smallest matching event' },
    ...(came.length === 0 ? [] : [{ id: 'came', name: `Newest events of one ${noun}` }]),
  ];
  return (
    <>
      <div className={cls(rule.sentence)}>
        <Menu
          label="Add an event"
          trigger={
            <>
              <Plus size={14} aria-hidden />
              Event
            </>
          }
          choices={choices}
          onChoose={(choice) => {
            setChoosing(choice === 'came');
            if (choice === 'minimum') onMinimum();
            if (choice === 'pasted') onPasted();
          }}
        />
        <span>or let</span>
        <SpanField what="of the time that passes" span={span} isWrong={false} onChange={setSpan} />
        <Button isDisabled={amount === 0} onPress={() => onPass(amount * UNIT_MS[span.unit])}>
          Pass
        </Button>
      </div>
      {isChoosing && (
        <div className={cls(rule.sentence)}>
          <NativeSelect
            label={`An event of the ${noun}`}
            options={came.map((event) => ({ id: event.id, name: event.name }))}
            value={id}
            onChange={setChosen}
          />
          <Button
            isDisabled={isBusy}
            onPress={() => {
              setChoosing(false);
              onCame(id);
            }}
          >
            Add its newest events
          </Button>
        </div>
      )}
    </>
  );
}
