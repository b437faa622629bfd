import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { statusQuery } from '../api/status.ts';
import { notificationsQuery } from '../screens/notifications/queries.ts';
import { SETTINGS } from '../screens/settings/places.ts';
import { templatesQuery } from '../screens/templates/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Choices } from '../ui/choices.tsx';
import { changeSettings } from '../ui/settings.ts';
import { findId, isLikeId } from './find-id.ts';
import { EVERY_WORKSPACE } from './last-workspace.ts';
import { BUILD_PLACES, PLACES, WHY_PLACE } from './places.ts';
import { useWorkspace } from './use-workspace.ts';

type Command = { readonly id: string; readonly name: string; readonly note?: string; readonly run: () => void };

/** What can be done from anywhere; each begins where its screen would. */
const ACTIONS = [
  { name: 'New notification', to: '/workspaces/$w/notifications', search: { new: 'yes' }, isOfOne: true },
  { name: 'Review and publish', to: '/workspaces/$w/drafts', search: {}, isOfOne: true },
  { name: 'Ask why somebody was not told', to: '/workspaces/$w/why', search: {}, isOfOne: false },
  { name: 'Decide what is in doubt', to: '/workspaces/$w/deliveries/in-doubt', search: {}, isOfOne: false },
  { name: 'Promote a test environment', to: '/workspaces/$w/promote', search: {}, isOfOne: true },
  { name: 'Change the settings of the workspace', to: '/workspaces/$w/settings', search: {}, isOfOne: true },
  { name: 'New workspace', to: '/workspaces', search: { new: 'yes' }, isOfOne: false },
] as const;

/** Goes to a screen, a workspace or a resource by its name, does something, or finds an event or a delivery by its id, without the mouse. */
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

  const isOne = workspace !== EVERY_WORKSPACE;
  const isSound = words.trim() !== '';
  // What a workspace has is asked for once somebody types: its names are found as its screens are.
  const notifications = useQuery({ ...notificationsQuery(workspace), enabled: isOne && isSound });
  const templates = useQuery({ ...templatesQuery(workspace), enabled: isOne && isSound });
  const named: readonly Command[] = [
    ...(notifications.data?.items ?? []).map(({ name, body }) => ({
      id: `notification ${name}`,
      name: body.name ?? name,
      note: 'notification',
      run: () => go(navigate({ to: '/workspaces/$w/notifications/$n', params: { w: workspace, n: name } })),
    })),
    ...(templates.data?.items ?? []).map(({ name }) => ({
      id: `template ${name}`,
      name,
      note: 'template',
      run: () => go(navigate({ to: '/workspaces/$w/templates/$t', params: { w: workspace, t: name } })),
    })),
  ];
  const look: readonly Command[] = (['system', 'light', 'dark'] as const).map((theme) => ({
    id: `theme ${theme}`,
    name: `Theme: ${theme === 'system' ? 'like the system' : theme}`,
    note: 'do',
    run: () => {
      changeSettings({ theme });
      onClose();
    },
  }));
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
        // Among all workspaces nothing is made, published or promoted.
        ...ACTIONS.filter(({ isOfOne }) => isOne || !isOfOne).map(({ name, to, search }) => ({
          id: name,
          name,
          note: 'do',
          run: () => go(navigate({ to, params: { w: workspace }, search: { ...search } })),
        })),
        ...(isSound ? look : []),
        { id: 'workspaces', name: 'Workspaces', run: () => go(navigate({ to: '/workspaces' })) },
        { id: 'settings', name: 'Settings', run: () => go(navigate({ to: '/settings' })) },
        ...SETTINGS.flatMap(({ places }) => places)
          .filter(({ to }) => to !== '/workspaces')
          .map(({ name, to }) => ({ id: to, name, note: 'settings', run: () => go(navigate({ to })) })),
        ...named,
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
    <Dialog title="Go to, do, or find by id" isOpen onClose={onClose}>
      <div onKeyDown={hear}>
        <Field
          label="Screen, action, name, or an id"
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
