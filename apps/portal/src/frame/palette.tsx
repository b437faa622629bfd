import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { statusQuery } from '../api/status.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Choices } from '../ui/choices.tsx';
import { findId, isLikeId } from './find-id.ts';
import { EVERY_WORKSPACE } from './last-workspace.ts';
import { BUILD_PLACES, PLACES, WHY_PLACE } from './places.ts';
import { useWorkspace } from './use-workspace.ts';

type Command = { readonly id: string; readonly name: string; readonly note?: string; readonly run: () => void };

/** Goes to a screen or a workspace, or to an event or a delivery by its id, without the mouse. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const workspace = useWorkspace();
  const { data } = useQuery(statusQuery);
  const go = (to: Promise<void>): void => {
    void to;
    onClose();
  };

  const found = findId(words);
  const commands: readonly Command[] = found
    ? [
        {
          id: found.id,
          name: `The story of this ${found.kind}`,
          run: () =>
            go(
              found.kind === 'event'
                ? navigate({ to: '/workspaces/$w/events/$id', params: { w: EVERY_WORKSPACE, id: found.id } })
                : navigate({
                    to: '/workspaces/$w/deliveries',
                    params: { w: EVERY_WORKSPACE },
                    search: { open: found.id },
                  }),
            ),
        },
      ]
    : [
        ...PLACES.map(({ name, to, key }) => ({
          id: to,
          name,
          note: `g ${key}`,
          run: () => go(navigate({ to, params: { w: workspace } })),
        })),
        ...[WHY_PLACE, ...BUILD_PLACES].map(({ name, to }) => ({
          id: to,
          name,
          run: () => go(navigate({ to, params: { w: workspace } })),
        })),
        {
          id: 'promote',
          name: 'Promote a test environment',
          run: () => go(navigate({ to: '/workspaces/$w/promote', params: { w: workspace } })),
        },
        { id: 'workspaces', name: 'Workspaces', run: () => go(navigate({ to: '/workspaces' })) },
        { id: 'settings', name: 'Settings', run: () => go(navigate({ to: '/settings' })) },
        ...(data?.workspaces ?? []).map((w) => ({
          id: `workspace ${w}`,
          name: `Workspace ${w}`,
          run: () => go(navigate({ to: '/workspaces/$w/deliveries', params: { w } })),
        })),
      ].filter(({ name }) => name.toLowerCase().includes(words.trim().toLowerCase()));
  const chosen = commands[Math.min(at, commands.length - 1)];

  function hear(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setAt((now) => (Math.min(now, commands.length - 1) + step + commands.length) % commands.length);
    }
    if (event.key === 'Enter' && chosen) {
      event.preventDefault();
      chosen.run();
    }
  }
  const fault =
    found === null && isLikeId(words) ? 'An id begins with evt_ or dlv_ and has 26 letters and digits after it.' : null;
  return (
    <Dialog title="Go to, or find by id" isOpen onClose={onClose}>
      <div onKeyDown={hear}>
        <Field
          label="Screen, workspace, or an id"
          placeholder="evt_… or dlv_…"
          autoFocus
          autoComplete="off"
          value={words}
          onChange={(next) => {
            setWords(next);
            setAt(0);
          }}
          fault={fault}
        />
      </div>
      <Choices
        label="What fits"
        choices={commands}
        chosen={chosen?.id ?? null}
        onChoose={(id) => commands.find((one) => one.id === id)?.run()}
      />
    </Dialog>
  );
}
