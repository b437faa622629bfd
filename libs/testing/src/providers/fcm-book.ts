import { constants, type ServerHttp2Stream } from 'node:http2';
import { createBook, fateOfDevice, LONG_WHILE, type ProviderBook } from './provider-book.ts';
import { answerFcm, fcmError, startScriptedFcm, type ScriptedFcm } from './scripted-fcm.ts';

export type FcmBook = ProviderBook & Pick<ScriptedFcm, 'url' | 'trusted' | 'keyFile' | 'tokens'>;

type Sent = {
  readonly validateOnly?: boolean;
  readonly message: {
    readonly token?: string;
    readonly fid?: string;
    readonly notification?: { readonly title?: string };
  };
};

/** FCM over HTTP/2 and TLS with a book of what it took. Its subject is the title of the notification. */
export async function startFcmBook(): Promise<FcmBook> {
  const fcm = await startScriptedFcm();
  const book = createBook('push');
  const strayed = new Set<string>();
  fcm.answers((stream, { body, at, port }) => {
    const { message } = JSON.parse(body) as Sent;
    const to = message.token ?? message.fid ?? '';
    const request = { to, subject: message.notification?.title ?? '', at, port };
    const answered = answer(stream, to, () => book.take(request, fateOfDevice(to) === 'unanswered'));
    stream.once('close', () => {
      const ending = fateOfDevice(to) === 'unanswered' ? 'dropped' : answered() ? 'answered' : 'broken';
      book.over(request, ending);
    });
  });

  /** Answers whether it has answered. */
  function answer(stream: ServerHttp2Stream, to: string, take: () => void): () => boolean {
    let done = false;
    const say = (reply: (stream: ServerHttp2Stream) => void): void => {
      done = !stream.destroyed;
      reply(stream);
    };
    const accept = (): void => {
      take();
      say(answerFcm(200, { name: `projects/demo-app/messages/${book.messages.length}` }));
    };
    switch (fateOfDevice(to)) {
      case 'never':
        say(fcmError(429, 'QUOTA_EXCEEDED', { 'retry-after': '1' }));
        break;
      case 'refused':
        say(fcmError(400, 'INVALID_ARGUMENT'));
        break;
      case 'gone':
        say(fcmError(404, 'UNREGISTERED'));
        break;
      case 'unanswered':
        take();
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
        break;
      case 'slow':
        // A client that has disconnected by then has still handed the message over.
        setTimeout(accept, LONG_WHILE);
        break;
      case 'astray':
        if (strayed.has(to)) accept();
        else
          say(
            answerFcm(404, { error: { code: 404, status: 'NOT_FOUND', message: 'Requested entity was not found.' } }),
          );
        strayed.add(to);
        break;
      case 'customer':
        accept();
    }
    return () => done;
  }

  const { url, trusted, keyFile, tokens } = fcm;
  return { messages: book.messages, sends: book.sends, url, trusted, keyFile, tokens, stop: () => fcm.stop() };
}
