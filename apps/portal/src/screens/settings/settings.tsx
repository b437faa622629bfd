import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { SETTINGS } from './places.ts';

/** All that is set up once. */
export function Settings(): ReactNode {
  return (
    <>
      <PageHead title="Settings" lead="What is set up once: who gets in, what may send, what was done." />
      <PageBody>
        {SETTINGS.map(({ name, to, places }) => (
          <section key={name} aria-label={name}>
            <h2>{to === null ? name : <Link to={to}>{name}</Link>}</h2>
            <Rows label={name}>
              {places.map((place) => (
                <Row key={place.to}>
                  <div>
                    <h3>
                      <Link to={place.to}>{place.name}</Link>
                    </h3>
                    <Quiet>{place.note}</Quiet>
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
