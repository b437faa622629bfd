import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { Refusal } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { isTyped } from '../../ui/is-typed.ts';
import { counted } from '../drafts/change-words.ts';
import { Foot, JobProgress } from '../jobs/job-progress.tsx';
import styles from '../jobs/jobs.module.css';
import { countLines } from './erasure-text.ts';
import { ERASURES, requestErasure, type Erasure, type ErasureLook, type ErasureRequest } from './queries.ts';

type Begun = Pick<Erasure, 'id' | 'job' | 'workspace'>;
type Look = { readonly request: ErasureRequest; readonly found: ErasureLook };

/** Erases a person in three steps: who and why, what is found, and the progress of the job. */
export function ErasePerson({
  workspace,
  person,
  onClose,
}: {
  readonly workspace: string;
  /** Empty if the user enters it. */
  readonly person: string;
  readonly onClose: () => void;
}): ReactNode {
  const [request, setRequest] = useState<ErasureRequest>({ person, reason: '' });
  const [look, setLook] = useState<Look | null>(null);
  const [begun, setBegun] = useState<Begun | null>(null);
  return (
    <Dialog title="Erase a person" isOpen onClose={onClose}>
      {begun ? (
        <JobProgress
          begun={{ jobs: [{ workspace: begun.workspace ?? workspace, id: begun.job }], refused: [] }}
          changes={ERASURES}
          renderDone={(close) => (
            <Link
              to="/workspaces/$w/erasures"
              params={{ w: begun.workspace ?? workspace }}
              search={{ open: begun.id }}
              onClick={close}
            >
              Show the certificate
            </Link>
          )}
          onClose={onClose}
        />
      ) : look ? (
        <Confirmation
          workspace={workspace}
          look={look}
          onBack={() => setLook(null)}
          onBegun={setBegun}
          onClose={onClose}
        />
      ) : (
        <LookForm
          workspace={workspace}
          request={request}
          onChange={setRequest}
          onLook={(found) => setLook({ request, found })}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function LookForm({
  workspace,
  request,
  onChange,
  onLook,
  onClose,
}: {
  readonly workspace: string;
  readonly request: ErasureRequest;
  readonly onChange: (request: ErasureRequest) => void;
  readonly onLook: (found: ErasureLook) => void;
  readonly onClose: () => void;
}): ReactNode {
  const off = useMay('people', workspace);
  const look = useMutation({ mutationFn: () => requestErasure(workspace, request), onSuccess: onLook });
  const faultOf = (pointer: string): string | null =>
    look.error instanceof Refusal && look.error.pointer === pointer ? look.error.message : null;
  const isAtField = faultOf('/person') !== null || faultOf('/reason') !== null;
  const isWhole = request.person.trim() !== '' && request.reason.trim() !== '';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isWhole && off === null && !look.isPending) look.mutate();
  };
  return (
    <form className={cls(styles.job)} onSubmit={submit}>
      <Field
        label="Person"
        note="User id or address"
        value={request.person}
        onChange={(person) => onChange({ ...request, person })}
        maxLength={4096}
        autoComplete="off"
        autoFocus={request.person === ''}
        fault={faultOf('/person')}
      />
      <Field
        label="Reason"
        note="Kept in the audit and the certificate. Do not name the person."
        placeholder="Letter of 2026-11-20"
        value={request.reason}
        onChange={(reason) => onChange({ ...request, reason })}
        maxLength={500}
        autoComplete="off"
        autoFocus={request.person !== ''}
        fault={faultOf('/reason')}
      />
      {look.error && !isAtField && <Problem error={look.error} />}
      <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/erasures`, body: request }} />
      <Foot>
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="main" type="submit" off={off} isDisabled={!isWhole || look.isPending}>
          {look.isPending ? 'Looking…' : 'Show what is found'}
        </Button>
      </Foot>
    </form>
  );
}

function Confirmation({
  workspace,
  look: { request, found },
  onBack,
  onBegun,
  onClose,
}: {
  readonly workspace: string;
  readonly look: Look;
  readonly onBack: () => void;
  readonly onBegun: (erasure: Begun) => void;
  readonly onClose: () => void;
}): ReactNode {
  const [typed, setTyped] = useState('');
  const confirmed = { ...request, confirm: found.checksum };
  const erase = useMutation({
    mutationFn: () => requestErasure(workspace, confirmed),
    onSuccess: ({ erasure }) => erasure && onBegun(erasure),
  });
  const { shared_addresses: shared, undecided } = found;
  const isConfirmed = isTyped(typed, request.person);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isConfirmed && !erase.isPending) erase.mutate();
  };
  return (
    <form className={cls(styles.job)} onSubmit={submit}>
      <p role="status">
        Workspace {workspace} holds about <b>{request.person}</b>:
      </p>
      <ul aria-label="Found">
        {countLines(found.found).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {shared > 0 && (
        <p role="note">Other people have them too, so Carillon keeps {counted(shared, 'address', 'addresses')}.</p>
      )}
      {undecided.length > 0 && (
        <p role="alert">
          In doubt or being sent: {undecided.join(', ')}. Decide about these messages first, then look again.
        </p>
      )}
      <p>Erasing cannot be undone. Opt-outs and suppressions stay in force. Backups still hold the person.</p>
      <Field
        label={`Type ${request.person} to confirm`}
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        autoFocus
      />
      {erase.error && <Problem error={erase.error} />}
      <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/erasures`, body: confirmed }} />
      <Foot>
        <Button onPress={onClose}>Cancel</Button>
        <Button onPress={onBack}>Look again</Button>
        <Button kind="danger" type="submit" isDisabled={!isConfirmed || erase.isPending}>
          Erase this person
        </Button>
      </Foot>
    </form>
  );
}
