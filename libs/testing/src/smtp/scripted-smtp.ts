import { createServer, type Server, type Socket } from 'node:net';
import { type AcceptedMail, type ScriptMoment, SmtpDialogue, type SmtpScript, type SmtpSend } from './dialogue.ts';

export type ScriptedSmtpOptions = {
  readonly script?: SmtpScript;
  readonly extensions?: readonly string[];
  /** 0, and left out: any free one. */
  readonly port?: number;
  /** Called before the server says or does anything about an accepted message. */
  readonly onAccepted?: (mail: AcceptedMail) => Promise<void>;
  /** Called at the MAIL command of a send, with the client's port. */
  readonly onBegun?: (port: number) => void;
  /** Called when a send is over, whatever ended it. */
  readonly onSent?: (send: SmtpSend) => void;
};

export type ScriptedSmtp = {
  readonly host: string;
  readonly port: number;
  /** Every message that the server took responsibility for, recorded before it answered or misbehaved. */
  readonly accepted: readonly AcceptedMail[];
  /** Every command, in order. */
  readonly heard: readonly ScriptMoment[];
  /** Connections so far. */
  connections(): number;
  /** Connections that are open now. */
  open(): number;
  /** The most that were open at once. */
  most(): number;
  /** Another script from the next command on. */
  follow(script: SmtpScript): void;
  /** Cuts what is connected and stops listening. */
  stop(): Promise<void>;
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((settle, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', () => {
      const bound = server.address();
      settle(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });

/** Starts a mail server on the loopback interface whose script decides every answer. Without one it accepts all. */
export async function startScriptedSmtp(options: ScriptedSmtpOptions = {}): Promise<ScriptedSmtp> {
  const accepted: AcceptedMail[] = [];
  const heard: ScriptMoment[] = [];
  const sockets = new Set<Socket>();
  let script = options.script ?? (() => undefined);
  let connections = 0;
  let messages = 0;
  let most = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.once('close', () => sockets.delete(socket));
    connections += 1;
    void new SmtpDialogue(socket, connections, {
      script: (moment) => script(moment),
      extensions: options.extensions ?? ['8BITMIME', 'AUTH PLAIN LOGIN'],
      nextMessage: () => ++messages,
      heard: (moment) => void heard.push(moment),
      begun: (of) => options.onBegun?.(of),
      ended: (send) => options.onSent?.(send),
      accepted: async (mail) => {
        accepted.push(mail);
        await options.onAccepted?.(mail);
      },
    });
  });
  const port = await listen(server, options.port ?? 0);

  return {
    host: '127.0.0.1',
    port,
    accepted,
    heard,
    connections: () => connections,
    open: () => sockets.size,
    most: () => most,
    follow: (next) => {
      script = next;
    },
    stop: () =>
      new Promise((settle) => {
        server.close(() => settle());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
