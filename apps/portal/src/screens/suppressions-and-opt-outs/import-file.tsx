import { useMutation } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { Import } from './calls.ts';
import styles from './entries.module.css';

/** In bytes: what the server takes of one file. */
const MOST = 1024 * 1024;

/** Takes a CSV file in, and says of each row that was refused why. */
export function ImportFile({
  title,
  note,
  workspace,
  call,
  queryKey,
  send,
  command,
  onClose,
}: {
  readonly title: string;
  /** Which columns it reads. */
  readonly note: string;
  readonly workspace: string;
  /** What sends it. */
  readonly call: Call;
  /** What is old afterwards. */
  readonly queryKey: readonly unknown[];
  readonly send: Import;
  /** What takes longer files. */
  readonly command: string;
  readonly onClose: () => void;
}): ReactNode {
  const id = useId();
  const [file, setFile] = useState<File | null>(null);
  const taken = useMutation({
    mutationFn: async (chosen: File) => send(workspace, await chosen.text()),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  const { data } = taken;
  const isTooLong = file !== null && file.size > MOST;
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>{data ? 'Close' : 'Cancel'}</Button>
          {!data && (
            <Button
              kind="main"
              isDisabled={file === null || isTooLong || taken.isPending}
              onPress={() => file !== null && taken.mutate(file)}
            >
              Import the file
            </Button>
          )}
        </>
      }
    >
      <p>{note}</p>
      {!data && <Curl call={{ ...call, file: { name: file?.name ?? 'file.csv', type: 'text/csv' } }} />}
      {!data && (
        <>
          <label htmlFor={id} className={cls(styles.label)}>
            CSV file in UTF-8
          </label>
          <input
            id={id}
            type="file"
            accept=".csv,text/csv"
            className={cls(styles.file)}
            onChange={({ target }) => {
              taken.reset();
              setFile(target.files?.[0] ?? null);
            }}
          />
        </>
      )}
      {isTooLong && (
        <p role="alert">
          The file is larger than 1 MiB. Import it on the command line: <code>{command}</code>
        </p>
      )}
      {taken.error && <Problem error={taken.error} />}
      {data && (
        <>
          <p role="status">
            {data.rows.toLocaleString('en')} rows: {data.taken.toLocaleString('en')} imported,{' '}
            {data.added.toLocaleString('en')} of them new, {data.refused.toLocaleString('en')} refused.
            {data.ignored_columns.length > 0 && ` Ignored columns: ${data.ignored_columns.join(', ')}.`}
          </p>
          {data.faults.length > 0 && (
            <ul aria-label="Refused rows" className={cls(styles.faults)} tabIndex={0}>
              {data.faults.map(({ line, message }) => (
                <li key={`${line} ${message}`}>
                  Line {line}: {message}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Dialog>
  );
}
