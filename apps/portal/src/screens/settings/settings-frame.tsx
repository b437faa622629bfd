import { Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { SETTINGS } from './groups.ts';
import styles from './settings.module.css';

/** The pages of the settings beside the one that is open; a phone has them on the page Settings itself. */
export function SettingsFrame(): ReactNode {
  return (
    <div className={cls(styles.frame)}>
      <nav aria-label="Settings" className={cls(styles.nav)}>
        {SETTINGS.map(({ name, to, screens }) => (
          <div key={name}>
            <h2>{to === undefined ? name : <Link to={to}>{name}</Link>}</h2>
            <ul>
              {screens.map(({ path, settings }) => (
                <li key={path}>
                  <Link to={path} activeOptions={{ includeSearch: false }} className={cls(styles.link)}>
                    {settings.name}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className={cls(styles.page)}>
        <Outlet />
      </div>
    </div>
  );
}
