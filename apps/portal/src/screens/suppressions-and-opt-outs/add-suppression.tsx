import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, Refusal } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Actions } from '../../ui/page.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { removeSuppression, SUPPRESSIONS } from './calls.ts';
import { CHANNEL_OPTIONS, type Channel } from './entry-text.ts';
import styles from './entries.module.css';

/** Leaves an address out by hand. */
export function AddSuppression({
  workspace,
  onClose,
}: {
  readonly workspace: string;
  readonly onClose: () => void;
}): ReactNode {
  const [channel, setChannel] = useState<Channel>('email');
  const [address, setAddress] = useState('');
  const [detail, setDetail] = useState('');
  const body = { channel, address: address.trim(), detail: detail.trim() };
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [SUPPRESSIONS] });
  const add = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/v1/workspaces/{workspace}/suppressions', { params: { path: { workspace } }, body })),
    onSuccess: ({ added }) => {
      const entry = { channel, address: body.address, source: 'operator' } as const;
      if (added) {
        say(
          `Nothing is sent to ${body.address} any more.`,
          undoing(() => removeSuppression(workspace, entry), isOld),
        );
      } else say(`${body.address} is already on the list.`);
      onClose();
    },
    onSettled: isOld,
  });
  const fault = add.error instanceof Refusal && add.error.pointer === '/address' ? add.error.message : null;
  return (
    <Dialog title="Add an address" isOpen onClose={onClose}>
      <form
        className={cls(styles.form)}
        onSubmit={(event) => {
          event.preventDefault();
          if (body.address !== '' && !add.isPending) add.mutate();
        }}
      >
        <p>From now on Carillon sends nothing to this address on this channel.</p>
        <NativeSelect label="Channel" options={CHANNEL_OPTIONS} value={channel} onChange={setChannel} />
        <Field
          label="Address"
          autoFocus
          autoComplete="off"
          value={address}
          onChange={setAddress}
          fault={fault}
          note="An email address, a phone number with + and country code, or a device token"
        />
        <Field
          label="Reason"
          autoComplete="off"
          maxLength={500}
          value={detail}
          onChange={setDetail}
          note="For people who read this list later"
        />
        {add.error && fault === null && <Problem error={add.error} />}
        <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/suppressions`, body }} />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" type="submit" isDisabled={body.address === '' || add.isPending}>
            Add the address
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
