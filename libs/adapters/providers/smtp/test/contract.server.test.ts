import { describeChannelSender, parseMail, startScriptedSmtp } from '@carillon/testing';
import { senderFor } from './accounts.ts';

for (const extensions of [['8BITMIME'], ['PIPELINING', '8BITMIME', 'SIZE 1000000']]) {
  describeChannelSender(
    `SMTP to a server with ${extensions.join(', ')}`,
    async () => {
      const server = await startScriptedSmtp({ extensions });
      return {
        sender: senderFor(server),
        received: () =>
          Promise.all(
            server.accepted.map(async ({ raw }) => {
              const mail = await parseMail(Buffer.from(raw, 'latin1'));
              const from = `${mail.from.name} <${mail.from.address}>`;
              return { ...mail, from, to: mail.to.map((each) => each.address).join(', ') };
            }),
          ),
        breakProvider: () => server.stop(),
        dispose: () => server.stop(),
      };
    },
    { keepsAnAttemptOnce: false },
  );
}
