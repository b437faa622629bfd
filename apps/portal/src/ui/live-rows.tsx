import { useRef, type ReactNode } from 'react';
import type { LiveList } from '../api/live-list.ts';
import { Button } from './button.tsx';
import { cls } from './class-names.ts';
import { List, type ListProps } from './list.tsx';
import styles from './live-rows.module.css';

export type LiveRowsProps<Item> = Omit<ListProps<Item>, 'items' | 'onEnd' | 'onTop'> & {
  readonly list: Pick<
    LiveList<Item>,
    'isLive' | 'waiting' | 'hasMoreWaiting' | 'more' | 'setAtTop' | 'setReading' | 'takeIn'
  >;
  readonly items: readonly Item[];
};

/**
 * The rows of a list that keeps itself up to date. While the pointer or the focus of a keyboard is on them no row moves: how many new ones
 * wait stands on a button above the first, where there is room for it at any time.
 */
export function LiveRows<Item>({ list, ...rows }: LiveRowsProps<Item>): ReactNode {
  const { waiting, hasMoreWaiting, setReading } = list;
  const box = useRef<HTMLDivElement>(null);
  const reading = useRef({ byPointer: false, byKeyboard: false });
  function say(change: Partial<typeof reading.current>): void {
    reading.current = { ...reading.current, ...change };
    setReading(reading.current.byPointer || reading.current.byKeyboard);
  }
  function takeIn(): void {
    list.takeIn();
    // The button goes: whoever pressed it goes on at the newest row.
    requestAnimationFrame(() => {
      const first = box.current?.querySelector<HTMLElement>('[data-key]');
      first?.closest('ol')?.parentElement?.scrollTo({ top: 0 });
      first?.focus({ preventScroll: true });
    });
  }
  return (
    <div
      ref={box}
      className={cls(styles.live)}
      onPointerEnter={({ pointerType }) => say({ byPointer: pointerType !== 'touch' })}
      onPointerLeave={() => say({ byPointer: false })}
      onFocus={({ target }) => say({ byKeyboard: target.matches(':focus-visible') })}
      onBlur={() => say({ byKeyboard: false })}
    >
      <div className={cls(styles.strip)}>
        <span>{list.isLive ? 'Live: changes show as they come' : 'Updated every 2 seconds'}</span>
        <span role="status" className={cls(styles.fresh)}>
          {waiting > 0 && (
            <Button onPress={takeIn}>
              {waiting}
              {hasMoreWaiting && '+'} new
            </Button>
          )}
        </span>
      </div>
      <List {...rows} onEnd={list.more} onTop={list.setAtTop} />
    </div>
  );
}
