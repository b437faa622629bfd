import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { meQuery } from '../api/me.ts';
import { Button } from '../ui/button.tsx';
import { cls } from '../ui/class-names.ts';
import { changeSettings, useSettings } from '../ui/settings.ts';
import styles from './frame.module.css';

/** Asks a person who signed in by a link for a password, until there is one or the person closes the bar in this browser. */
export function PasswordBar(): ReactNode {
  const { data } = useQuery(meQuery);
  const { passwordBar } = useSettings();
  if (!passwordBar || !data?.person || data.person.has_password || data.session?.way !== 'link') return null;
  return (
    <div className={cls(styles.line, styles.closable)}>
      <p>
        <Link to="/settings/profile">Set a password</Link>: your sign-in link cannot be used twice.
      </p>
      <Button kind="quiet" isIcon aria-label="Close" onPress={() => changeSettings({ passwordBar: false })}>
        <X size={16} aria-hidden />
      </Button>
    </div>
  );
}
