import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { SETTINGS } from './groups.ts';

/** All that is set up once. */
export function Settings(): ReactNode {
  return (
    <>
      <PageHead title="Settings" lead="People, keys, sign-in, secrets and the audit." />
      <PageBody>
        {SETTINGS.map(({ name, to, screens }) => (
          <section key={name} aria-label={name}>
            <h2>{to === undefined ? name : <Link to={to}>{name}</Link>}</h2>
            <Rows label={name}>
              {screens.map(({ path, settings }) => (
                <Row key={path}>
                  <div>
                    <h3>
                      <Link to={path}>{settings.name}</Link>
                    </h3>
                    <Quiet>{settings.note}</Quiet>
                  </div>
                </Row>
              ))}
            </Rows>
          </section>
        ))}
      </PageBody>
    </>
  );
}
