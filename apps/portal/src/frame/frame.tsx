import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { CircleHelp, Search } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useAnswering, useSignedIn } from '../api/session.ts';
import { statusQuery } from '../api/status.ts';
import { PLACES, placesIn, screensWith, type ScreenWith } from '../screens/list.ts';
import { Button } from '../ui/button.tsx';
import { cls } from '../ui/class-names.ts';
import { lazyPart, Part } from '../ui/part.tsx';
import { Toasts } from '../ui/toast.tsx';
import { AskBeforeLeaving } from './ask-before-leaving.tsx';
import { COMMAND_KEY } from './command-key.ts';
import { DraftLink } from './draft-link.tsx';
import { EnvironmentLine } from './environment-line.tsx';
import { AccountMenu, MoreMenu, WorkspaceMenu } from './menus.tsx';
import { PasswordBar } from './password-bar.tsx';
import { useFocus } from './use-focus.ts';
import { useKeys } from './use-keys.ts';
import { useWorkspace } from './use-workspace.ts';
import { InZoneOf } from './workspace-zone.tsx';
import styles from './frame.module.css';

const Palette = lazyPart(() => import('./palette.tsx').then(({ Palette: loaded }) => loaded));
const KeysHelp = lazyPart(() => import('./keys-help.tsx').then(({ KeysHelp: loaded }) => loaded));
const SignIn = lazyPart(() => import('../screens/sign-in/sign-in.tsx').then(({ SignIn: loaded }) => loaded));

const BARE: ReadonlySet<string> = new Set(screensWith('isBare').map(({ path }) => path));

/** The frame around every screen. A user without session signs in here, and the address stays. */
export function Frame(): ReactNode {
  // The screen that is drawn now: while another one loads, the address is ahead of it.
  const screen = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId });
  const isSignedIn = useSignedIn();
  if (screen === undefined || BARE.has(screen)) return <Outlet />;
  if (!isSignedIn) {
    return (
      <Part>
        <SignIn />
      </Part>
    );
  }
  return <SignedInFrame screen={screen} />;
}

const DOCS: ReadonlyMap<string, string> = new Map(screensWith('docs').map(({ path, docs }) => [path, docs]));

function SignedInFrame({ screen }: { readonly screen: string }): ReactNode {
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null);
  const main = useRef<HTMLElement>(null);
  const navigate = useNavigate();
  const known = useWorkspace();
  useKeys({
    palette: () => setOpen('palette'),
    help: () => setOpen('keys'),
    go(key) {
      const found = PLACES.find(({ place }) => place.key === key);
      if (found) void navigate({ to: found.path, params: { w: known } });
    },
  });
  useFocus(main);
  return (
    <InZoneOf workspace={known}>
      <div className={cls(styles.frame)}>
        <a
          className={cls(styles.skip)}
          href="#main"
          onClick={(event) => {
            event.preventDefault();
            const first = main.current?.querySelector<HTMLElement>('[data-key][tabindex="0"]');
            (first ?? main.current)?.focus();
          }}
        >
          Skip to the content
        </a>
        <header className={cls(styles.side)}>
          <Link to="/workspaces" className={cls(styles.brand)} aria-label="Carillon, workspaces">
            <img src="/assets/icon.svg" alt="" width={24} height={24} />
            <span>Carillon</span>
          </Link>
          <WorkspaceMenu />
          <nav aria-label="Screens" className={cls(styles.nav)}>
            <Places workspace={known} screens={placesIn('main')} />
            <Places workspace={known} screens={placesIn('ask')} />
            <h2>Build</h2>
            <Places workspace={known} screens={placesIn('build')} />
            <h2>Deployment</h2>
            <Places workspace={known} screens={placesIn('deployment')} />
          </nav>
          <div className={cls(styles.foot)}>
            <DraftLink workspace={known} />
            <Button kind="quiet" onPress={() => setOpen('palette')}>
              <Search size={16} aria-hidden />
              Find <kbd>{COMMAND_KEY === '⌘' ? '⌘K' : 'Ctrl K'}</kbd>
            </Button>
            <a href={DOCS.get(screen) ?? '/docs'} className={cls(styles.help)} aria-label="Help with this screen">
              <CircleHelp size={16} aria-hidden />
            </a>
            <AccountMenu onKeys={() => setOpen('keys')} />
          </div>
        </header>
        <main id="main" ref={main} tabIndex={-1} className={cls(styles.main)}>
          <Away />
          <EnvironmentLine workspace={known} />
          <PasswordBar />
          <Outlet />
        </main>
        <nav aria-label="Main screens" className={cls(styles.bar)}>
          <Places workspace={known} screens={placesIn('main')} />
          <MoreMenu workspace={known} />
        </nav>
        <Toasts />
        <AskBeforeLeaving />
        {open === 'palette' && (
          <Part>
            <Palette onClose={() => setOpen(null)} />
          </Part>
        )}
        {open === 'keys' && (
          <Part>
            <KeysHelp onClose={() => setOpen(null)} />
          </Part>
        )}
      </div>
    </InZoneOf>
  );
}

function Places({
  workspace,
  screens,
}: {
  readonly workspace: string;
  readonly screens: readonly ScreenWith<'place'>[];
}): ReactNode {
  return screens.map(({ path, place }) => (
    <Link
      key={path}
      to={path}
      params={{ w: workspace }}
      className={cls(styles.link)}
      activeOptions={{ includeSearch: false, exact: place.isExact === true }}
    >
      <place.icon size={16} aria-hidden />
      {place.name}
    </Link>
  ));
}

/** That the server is away, under the header: what is shown stays. */
function Away(): ReactNode {
  // Asked for on every screen: so it is noticed on those too that ask for nothing else.
  useQuery(statusQuery);
  if (useAnswering()) return null;
  return (
    <p role="status" className={cls(styles.line)}>
      Carillon does not answer. Is it running? This page shows what it last read, and tries again every few seconds.
    </p>
  );
}
