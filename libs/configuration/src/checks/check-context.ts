import type { ChannelTemplate } from '@carillon/domain/channels';
import type {
  AccountBody,
  Configuration,
  IntegrationBody,
  ResourceKind,
  ResourceRef,
  StreamBody,
  TemplateBody,
  WorkspaceBody,
} from '@carillon/domain/configuration';
import type { Expression, ExpressionFault, ExpressionPlace } from '@carillon/domain/rules';
import type { TemplateIncludes } from '@carillon/domain/templates';
import type { Result } from '@carillon/kernel';
import type { WantedResource } from '../resource.ts';
import type { Report, TextPlace } from './finding.ts';

/** The part of the template renderer that checking needs. */
export type TemplateCheck = {
  /** What is wrong with a text by itself that templates put in, or that other texts are put into; its part is not named. */
  piece(source: string): readonly Omit<TemplateRemark, 'part'>[];
  check(template: ChannelTemplate): readonly TemplateRemark[];
  warnings(template: ChannelTemplate): readonly TemplateRemark[];
};
export type TemplateRemark = TextPlace & { readonly part: string; readonly message: string; readonly fix: string };

/** The part of the expression language that checking needs. */
export type ExpressionCheck = {
  compile(source: string, place: ExpressionPlace): Result<Expression, readonly ExpressionFault[]>;
};

/** What checking needs besides the resources. */
export type CheckContext = {
  readonly language: ExpressionCheck;
  readonly templates: TemplateCheck;
  /** What is there already: API keys, and resources that a part of a configuration may refer to. */
  readonly current: Configuration;
};

/** What a resource may refer to: those checked with it, and what was there before. */
export type CheckedAgainst = CheckContext & {
  /** Names that are wanted by kind and workspace, of resources with mistakes too: those are not missing. */
  names(kind: ResourceKind, workspace: string): readonly string[];
  /** What an account of a workspace will be, else is. */
  account(workspace: string, name: string): AccountBody | undefined;
  /** What a template will be, else is; undefined also for one that cannot be read. */
  template(workspace: string, name: string): TemplateBody | undefined;
  /** Layouts and partials as they will be, else are. */
  includes(workspace: string): TemplateIncludes;
  /** Where mistakes in another resource go; each is told once. */
  reportOn(ref: ResourceRef): Report;
  /** What an integration will be, else is. */
  integration(workspace: string, name: string): IntegrationBody | undefined;
  /** What a shared stream will be, else is. */
  stream(workspace: string, name: string): StreamBody | undefined;
  /** What the workspace's own settings will be, else are. */
  workspace(workspace: string): WorkspaceBody | undefined;
};

/** Looks at one resource and reports what is wrong with it, by path. */
export type Check = (resource: WantedResource, around: CheckedAgainst, report: Report) => void;
