import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { ErasePerson } from './erase-person.tsx';

/** Offers to erase the person of a page. */
export function ErasePersonCard({
  workspace,
  person,
}: {
  readonly workspace: string;
  readonly person: string;
}): ReactNode {
  const off = useMay('people', workspace);
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title="Erase this person">
      <p>
        Removes what this workspace holds about this person from log, deliveries and lists. You see what is found before
        you confirm.
      </p>
      <Actions>
        <Button kind="danger" off={off} onPress={() => setOpen(true)}>
          Erase…
        </Button>
        {off === null && (
          <Link to="/workspaces/$w/erasures" params={{ w: workspace }}>
            Certificates
          </Link>
        )}
      </Actions>
      {isOpen && <ErasePerson workspace={workspace} person={person} onClose={() => setOpen(false)} />}
    </Card>
  );
}
