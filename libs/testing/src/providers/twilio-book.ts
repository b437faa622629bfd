import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createBook, fateOfPhone, LONG_WHILE, type ProviderBook } from './provider-book.ts';
import { answerTwilio, startScriptedTwilio, TWILIO_ACCOUNT, type TwilioRequest } from './scripted-twilio.ts';

/** Where Twilio was told to report on a message: a header of its entry in the book. */
export const REPORT_TO = 'x-report-to';
/** Its sid at Twilio. */
export const SID_OF = 'x-sid';

export type TwilioBook = ProviderBook & {
  readonly url: string;
  readonly accountSid: string;
  /** From now on the list of messages is served. Before, it returns 404. */
  showList(): void;
};

/**
 * Twilio over HTTP with a book of accepted messages; the subject is the first word of the text. The response is sent
 * after `onTaken` has resolved.
 */
export async function startTwilioBook(
  onTaken: (message: ProviderBook['messages'][number]) => Promise<void> | void = () => undefined,
): Promise<TwilioBook> {
  const twilio = await startScriptedTwilio();
  const book = createBook('sms');
  const strayed = new Set<string>();
  let showsList = false;

  function list(response: ServerResponse, { path }: TwilioRequest): void {
    if (!showsList) return answerTwilio(503, {})(response);
    const to = new URL(path, 'http://twilio.test').searchParams.get('To');
    const messages = book.messages
      .filter((message) => message.to[0] === to)
      .map(({ at, headers, subject }) => ({
        sid: headers[SID_OF],
        from: headers['x-from'],
        messaging_service_sid: null,
        body: headers['x-body'] ?? subject,
        status: 'sent',
        date_created: new Date(at).toUTCString().replace('GMT', '+0000'),
      }))
      .toReversed();
    return answerTwilio(200, { messages, page_size: 100 })(response);
  }

  twilio.answers((response, received) => {
    if (received.method === 'GET') return list(response, received);
    const { form, at, port } = received;
    const to = form.get('To') ?? '';
    const text = form.get('Body') ?? '';
    const fate = fateOfPhone(to);
    const request = { to, subject: text.split(/\s/, 1)[0] ?? '', at, port };
    response.once('close', () =>
      book.over(request, fate === 'unanswered' ? 'dropped' : response.writableFinished ? 'answered' : 'broken'),
    );
    const sid = `SM${String(book.messages.length + 1).padStart(32, '0')}`;
    const take = async (): Promise<void> => {
      book.take(request, fate === 'unanswered', {
        [REPORT_TO]: form.get('StatusCallback') ?? '',
        [SID_OF]: sid,
        'x-from': form.get('From') ?? '',
        'x-body': text,
      });
      const taken = book.messages.at(-1);
      if (taken) await onTaken(taken);
    };
    const accept = async (): Promise<void> => {
      await take();
      answerTwilio(201, { sid, status: 'queued' })(response);
    };
    switch (fate) {
      case 'never':
        return answerTwilio(429, { code: 20429, message: 'Too Many Requests' })(response);
      case 'refused':
        return answerTwilio(400, { code: 21617, message: 'The concatenated message body exceeds 1600 characters' })(
          response,
        );
      case 'gone':
        return answerTwilio(400, { code: 21211, message: 'The To number is not a valid phone number' })(response);
      case 'unanswered':
        return void take().then(() => response.socket?.resetAndDestroy());
      case 'slow':
        // A client that has disconnected by then has still handed the message over.
        return void setTimeout(() => void accept(), LONG_WHILE);
      case 'astray':
        if (strayed.has(to)) return void accept();
        strayed.add(to);
        return answerTwilio(404, '<html>not here</html>')(response);
      case 'customer':
        return void accept();
    }
  });
  return {
    messages: book.messages,
    sends: book.sends,
    url: twilio.url,
    accountSid: TWILIO_ACCOUNT,
    showList: () => {
      showsList = true;
    },
    stop: () => twilio.stop(),
  };
}

/** A form as Twilio posts it to this address, signed with the auth token. */
export function signedByTwilio(url: string, form: Readonly<Record<string, string>>, authToken: string): RequestInit {
  const fields = Object.keys(form)
    .toSorted()
    .map((name) => name + form[name]);
  return {
    method: 'POST',
    body: new URLSearchParams(form).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', authToken)
        .update(url + fields.join(''))
        .digest('base64'),
    },
  };
}
