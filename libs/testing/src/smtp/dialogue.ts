import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Where in the dialogue a server may do what it likes. `body`: right after 354, before the message came. */
export const SCRIPT_STAGES = [
  'greeting',
  'ehlo',
  'starttls',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
  'dot',
  'rset',
] as const;
export type ScriptStage = (typeof SCRIPT_STAGES)[number];

export type ScriptMoment = {
  readonly stage: ScriptStage;
  /** Connections are counted from 1, in the order in which they came. */
  readonly connection: number;
  /** Messages (that is, MAIL commands) are counted from 1 over all connections; 0 before the first. */
  readonly message: number;
  /** The command as the client sent it. */
  readonly line: string;
  /** At `dot`, the whole message. */
  readonly raw: string;
};

export type ScriptStep = {
  /** The reply, its lines joined by LF. Left out: nothing is said. */
  readonly say?: string;
  /** Leaves out the line end of the reply: the server broke off in the midst of it. */
  readonly torn?: boolean;
  /** Milliseconds of silence before it. */
  readonly after?: number;
  /** `drop` cuts the connection, `hang` never says another word. Left out, the dialogue goes on. */
  readonly ending?: 'drop' | 'hang';
};
/** Returns the reply to send, or undefined for the normal one. A plain text is a reply. */
export type SmtpScript = (moment: ScriptMoment) => ScriptStep | string | undefined;

/** A message that the server took responsibility for. */
export type AcceptedMail = {
  readonly connection: number;
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
};

/** One message from its MAIL command to the server's last reply, as seen by the server. */
export type SmtpSend = {
  /** In milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** The client's end of the connection: tells which process it was. */
  readonly port: number;
  /** `broken`: the client was gone before the last word. `answered` and `dropped` are the server's doing. */
  readonly ending: 'answered' | 'dropped' | 'broken';
  /** The whole message; empty where it never came. */
  readonly raw: string;
};

export type DialogueOptions = {
  readonly script: SmtpScript;
  /** Lines of the EHLO reply, such as `PIPELINING` or `SIZE 1000`. */
  readonly extensions: readonly string[];
  /** Resolves when the message is recorded; only then anything is said or done about it. */
  readonly accepted: (mail: AcceptedMail) => Promise<void>;
  /** Called for each command. */
  readonly heard: (moment: ScriptMoment) => void;
  readonly nextMessage: () => number;
  /** Called at the MAIL command of a send, with the client's port. */
  readonly begun: (port: number) => void;
  /** Called when a send is over, whatever ended it. */
  readonly ended: (send: SmtpSend) => void;
};

const PLAIN: Readonly<Record<ScriptStage, string>> = {
  greeting: '220 scripted.test ESMTP',
  ehlo: '',
  starttls: '502 5.5.1 not here',
  auth: '235 2.7.0 welcome',
  mail: '250 2.1.0 sender ok',
  rcpt: '250 2.1.5 recipient ok',
  data: '354 go on',
  body: '',
  dot: '250 2.0.0 Ok: queued as SCRIPTED',
  rset: '250 2.0.0 reset',
};

const isAcceptance = (reply: string): boolean => !/^[45]/.test(reply);
const address = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';

/**
 * One connection of a mail server that says exactly what its script wants, however wrong. Uses the bare socket, because
 * a server library would keep it from misbehaving. Does not trust the client to be in step.
 */
export class SmtpDialogue {
  readonly #socket: Socket;
  readonly #options: DialogueOptions;
  readonly #connection: number;
  readonly #port: number;
  #input = '';
  #inBody = false;
  #over = false;
  #message = 0;
  #from = '';
  #to: string[] = [];
  /** Since when a message is under way, and what came of it. */
  #sending: { readonly from: number; raw: string } | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(socket: Socket, connection: number, options: DialogueOptions) {
    this.#socket = socket;
    this.#connection = connection;
    this.#port = socket.remotePort ?? 0;
    this.#options = options;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#over = true;
      this.#end('broken');
    });
    socket.on('data', (chunk: Buffer) => {
      this.#input += chunk.toString('latin1');
      this.#queue(() => this.#read());
    });
    this.#queue(() => this.#answer('greeting', '').then(() => undefined));
  }

  #queue(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      this.#socket.destroy(error instanceof Error ? error : undefined);
    });
  }

  async #read(): Promise<void> {
    while (!this.#over) {
      if (this.#inBody) {
        const end = /(?:^|\r\n)\.\r\n/.exec(this.#input);
        if (!end) return;
        const raw = this.#input.slice(0, end.index).replaceAll(/(^|\r\n)\./g, '$1');
        this.#input = this.#input.slice(end.index + end[0].length);
        this.#inBody = false;
        await this.#take(raw);
        continue;
      }
      const end = this.#input.indexOf('\r\n');
      if (end < 0) return;
      const line = this.#input.slice(0, end);
      this.#input = this.#input.slice(end + 2);
      await this.#command(line);
    }
  }

  async #command(line: string): Promise<void> {
    const [verb = ''] = line.toUpperCase().split(/[ :]/, 1);
    switch (verb) {
      case 'EHLO':
      case 'HELO': {
        const lines = ['scripted.test', ...(verb === 'EHLO' ? this.#options.extensions : [])];
        const plain = lines.map((each, index) => `250${index === lines.length - 1 ? ' ' : '-'}${each}`).join('\n');
        return void (await this.#answer('ehlo', line, plain));
      }
      case 'STARTTLS':
        return void (await this.#answer('starttls', line));
      case 'AUTH':
        return void (await this.#answer('auth', line));
      case 'MAIL':
        this.#message = this.#options.nextMessage();
        this.#to = [];
        this.#from = address(line);
        this.#end('answered');
        this.#sending = { from: Date.now(), raw: '' };
        this.#options.begun(this.#port);
        return void (await this.#answer('mail', line));
      case 'RCPT':
        if (isAcceptance(await this.#answer('rcpt', line))) this.#to.push(address(line));
        return;
      case 'DATA': {
        const refused = this.#to.length === 0 ? '503 5.5.1 no recipient' : undefined;
        const said = await this.#answer('data', line, refused);
        if (!/^[23]/.test(said) || refused !== undefined) return;
        this.#inBody = true;
        return void (await this.#answer('body', line));
      }
      case 'RSET':
        this.#end('answered');
        return void (await this.#answer('rset', line));
      case 'QUIT':
        this.#over = true;
        this.#end('answered');
        this.#socket.end('221 2.0.0 bye\r\n');
        return;
      default:
        this.#say('500 5.5.2 what?');
    }
  }

  /** The final dot came. What is not refused is recorded first, whatever is said or not said about it. */
  async #take(raw: string): Promise<void> {
    const step = this.#next('dot', '.', PLAIN.dot, raw);
    const mail = { connection: this.#connection, from: this.#from, to: [...this.#to], raw };
    this.#to = [];
    if (this.#sending) this.#sending.raw = raw;
    if (step.say === undefined || isAcceptance(step.say)) await this.#options.accepted(mail);
    await this.#perform(step);
    if (step.ending === undefined) this.#end('answered');
  }

  /** Once for each send: what comes later is of no more concern. */
  #end(ending: SmtpSend['ending']): void {
    if (!this.#sending) return;
    const { from, raw } = this.#sending;
    this.#sending = undefined;
    this.#options.ended({ from, until: Date.now(), port: this.#port, ending, raw });
  }

  #next(stage: ScriptStage, line: string, plain = PLAIN[stage], raw = ''): ScriptStep {
    const moment = { stage, connection: this.#connection, message: this.#message, line, raw };
    this.#options.heard(moment);
    const step = this.#options.script(moment) ?? (plain === '' ? {} : plain);
    return typeof step === 'string' ? { say: step } : step;
  }

  async #answer(stage: ScriptStage, line: string, plain?: string): Promise<string> {
    const step = this.#next(stage, line, plain);
    await this.#perform(step);
    return step.say ?? '';
  }

  async #perform(step: ScriptStep): Promise<void> {
    if (step.after !== undefined) await pause(step.after);
    if (step.say !== undefined) this.#say(step.say, step.torn === true ? '' : '\r\n');
    if (step.ending === undefined) return;
    this.#over = true;
    if (step.ending !== 'drop') return;
    this.#end('dropped');
    this.#socket.destroySoon();
  }

  #say(reply: string, end = '\r\n'): void {
    if (!this.#socket.destroyed) this.#socket.write(`${reply.replaceAll('\n', '\r\n')}${end}`);
  }
}
