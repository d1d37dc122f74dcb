-- +goose Up

create table project (
  tenant_id  bigint not null,
  project_id bigint generated always as identity,
  key        text collate "C" not null,
  primary key (tenant_id, project_id),
  unique (tenant_id, key)
);

-- body is the session as it is in a file, byte for byte: jsonb would reorder its keys, and refuse some texts.
-- The other columns are taken from it, for lists. Times are in UTC, all of one length, so that they sort.
create table session (
  tenant_id  bigint not null,
  project_id bigint not null,
  session_id uuid not null,
  task_name  text collate "C" not null,
  objective  bytea not null,
  stage      text not null,
  state      text not null,
  active     boolean not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  version    int not null,
  revision   int not null,
  body       bytea not null,
  primary key (tenant_id, project_id, session_id),
  foreign key (tenant_id, project_id) references project
);
create unique index session_name on session (tenant_id, project_id, task_name);
create index session_latest on session (tenant_id, project_id, updated_at desc, session_id);

create table content (
  tenant_id  bigint not null,
  project_id bigint not null,
  path       text collate "C" not null,
  session_id uuid not null,
  sha256     bytea not null,
  body       bytea not null,
  primary key (tenant_id, project_id, path),
  foreign key (tenant_id, project_id, session_id) references session
);
create index content_session on content (tenant_id, project_id, session_id);

-- The public keys that seal sessions; body is JSON.
create table member (
  tenant_id  bigint not null,
  project_id bigint not null,
  key        text collate "C" not null,
  body       bytea not null,
  primary key (tenant_id, project_id, key),
  foreign key (tenant_id, project_id) references project
);

alter table project enable row level security;
alter table project force row level security;
alter table session enable row level security;
alter table session force row level security;
alter table content enable row level security;
alter table content force row level security;
alter table member enable row level security;
alter table member force row level security;
create policy tenant on member using (tenant_id = nullif(current_setting('bmad.tenant', true), '')::bigint);
create policy tenant on project using (tenant_id = nullif(current_setting('bmad.tenant', true), '')::bigint);
create policy tenant on session using (tenant_id = nullif(current_setting('bmad.tenant', true), '')::bigint);
create policy tenant on content using (tenant_id = nullif(current_setting('bmad.tenant', true), '')::bigint);
