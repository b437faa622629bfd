import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { meQuery } from '../api/me.ts';
import { cls } from '../ui/class-names.ts';
import styles from './frame.module.css';

/** Whoever came in by a link is asked for a password until there is one: the link does not work again. */
export function PasswordBar(): ReactNode {
  const { data } = useQuery(meQuery);
  if (!data?.person || data.person.has_password || data.session?.way !== 'link') return null;
  return (
    <p className={cls(styles.line)}>
      The link that you came in by does not work again. <Link to="/settings/profile">Set a password</Link>
    </p>
  );
}
