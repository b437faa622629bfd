import { connect } from 'node:net';

/** Whether a mail server at this port of this machine greets; undefined where it does not. */
export const greets = (port: number): Promise<true | undefined> =>
  new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    const end = (answer: true | undefined): void => {
      socket.destroy();
      settle(answer);
    };
    socket.once('data', (chunk: Buffer) => end(chunk.toString().startsWith('220') ? true : undefined));
    socket.once('error', () => end(undefined)).once('close', () => end(undefined));
  });
