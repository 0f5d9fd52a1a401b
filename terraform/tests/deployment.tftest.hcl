# What a plan holds, against the provider's schema; nothing is made. `terraform test`.

mock_provider "google" {
  mock_resource "google_service_account" {
    override_during = plan
    defaults = {
      id     = "projects/plinth-test/serviceAccounts/somebody@plinth-test.iam.gserviceaccount.com"
      email  = "somebody@plinth-test.iam.gserviceaccount.com"
      member = "serviceAccount:somebody@plinth-test.iam.gserviceaccount.com"
    }
  }

  mock_resource "google_project_iam_custom_role" {
    override_during = plan
    defaults        = { name = "projects/plinth-test/roles/ourOwn" }
  }
}

override_data {
  target = data.google_project.plinth
  values = { number = "123456789012" }
}

variables {
  project_id       = "plinth-test"
  deployment       = "test"
  release          = "1.2.3"
  release_bucket   = "plinth-test-releases"
  invokers         = ["domain:example.com"]
  parents          = ["folders/111", "organizations/222"]
  billing_accounts = ["0123AB-4567CD-89EF01"]
  dns_zones        = ["shared-dns/zone-a", "shared-dns/zone-b"]
  oauth_clients    = ["client.apps.example.com"]
  operators        = ["operator@example.com"]
}

run "functions" {
  command = plan

  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.build_config[0].runtime == "nodejs22"])
    error_message = "nodejs20 can no longer be deployed."
  }
  assert {
    condition     = alltrue([for name, f in google_cloudfunctions2_function.function : f.build_config[0].source[0].storage_source[0].object == "releases/1.2.3/${name}.zip"])
    error_message = "Each function comes from its own bundle of the release."
  }
  assert {
    condition     = length(distinct([for name, account in google_service_account.identity : account.account_id])) == length(google_cloudfunctions2_function.function) + 3
    error_message = "Each function has an identity of its own; so have Scheduler, Eventarc and the builder."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["bootstraps"].service_config[0].timeout_seconds >= 600
    error_message = "An event stream takes nine minutes."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["run-host-step"].service_config[0].max_instance_request_concurrency == 40 && google_cloudfunctions2_function.function["run-host-step"].service_config[0].max_instance_count == 2
    error_message = "Few instances share the connections to a jumpbox."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].timeout_seconds == 540 if length(f.event_trigger) > 0])
    error_message = "A function that hears events has nine minutes."
  }
  assert {
    condition = [for name, f in google_cloudfunctions2_function.function : name if length(f.event_trigger) > 0] == ["run-cloud-step", "run-host-step"] && alltrue([
      for f in google_cloudfunctions2_function.function : alltrue([for t in f.event_trigger : t.retry_policy == "RETRY_POLICY_RETRY" && t.event_type == "google.cloud.pubsub.topic.v1.messagePublished"])
    ])
    error_message = "Both lanes hear messages, with retries."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].ingress_settings == (contains(["api", "bootstraps"], f.name) ? "ALLOW_ALL" : "ALLOW_INTERNAL_ONLY")])
    error_message = "Only the APIs are reached from outside."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["api"].service_config[0].environment_variables["PLINTH_AUDIENCES"] == "https://api-123456789012.europe-west4.run.app,client.apps.example.com"
    error_message = "An API takes tokens for its own URL and for the OAuth client."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["sweep"].service_config[0].environment_variables["PLINTH_AUDIENCES"] == google_cloud_scheduler_job.job["sweep"].http_target[0].oidc_token[0].audience
    error_message = "A job's token is made for the function that it calls, and for nothing else."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : !contains(values(f.service_config[0].environment_variables), "")])
    error_message = "An empty setting is an unset one."
  }
}

run "config" {
  command = plan

  assert {
    condition     = yamldecode(output.config_yaml).oauth.clientId == "client.apps.example.com" && yamldecode(output.config_yaml).endpoints.bootstraps == "https://bootstraps-123456789012.europe-west4.run.app"
    error_message = "The command line's config file says where plinth is and by which client people log in."
  }
}

run "callers" {
  command = plan

  assert {
    condition     = join(", ", sort(keys(google_cloud_run_v2_service_iam_member.invoker))) == "api domain:example.com, bootstraps domain:example.com, cleanup scheduler, run-cloud-step eventarc, run-host-step eventarc, sweep scheduler"
    error_message = "Nobody else may call a function."
  }
  assert {
    condition     = alltrue([for i in google_cloud_run_v2_service_iam_member.invoker : i.role == "roles/run.invoker"])
    error_message = "Callers may call, and no more."
  }
}

run "grants" {
  command = plan

  assert {
    condition     = join(", ", keys(google_project_iam_member.dns)) == "run-cloud-step roles/dns.admin shared-dns"
    error_message = "One grant a project of zones."
  }
  assert {
    condition     = length(setintersection([for g in google_project_iam_member.function : g.role], ["roles/owner", "roles/editor", "roles/datastore.owner"])) == 0
    error_message = "No function owns the project."
  }
}

run "store" {
  command = plan

  assert {
    condition     = google_firestore_database.plinth.type == "FIRESTORE_NATIVE" && google_firestore_database.plinth.point_in_time_recovery_enablement == "POINT_IN_TIME_RECOVERY_ENABLED" && google_firestore_database.plinth.delete_protection_state == "DELETE_PROTECTION_ENABLED"
    error_message = "The database is native, can be read as it was, and is protected."
  }
  assert {
    condition     = length(google_firestore_index.composite) == length(jsondecode(file("firestore.indexes.json")).indexes)
    error_message = "Every composite index is made."
  }
  assert {
    condition     = alltrue([for key, field in google_firestore_field.override : (length(field.ttl_config) == 1) == endswith(key, ".expireAt") && length(field.index_config) == 1])
    error_message = "expireAt is what Firestore removes by; no override has an index."
  }
  assert {
    condition     = strcontains(google_firebaserules_ruleset.firestore.source[0].files[0].content, "allow read, write: if false;")
    error_message = "Nobody gets in past the functions."
  }
}

run "clock" {
  command = plan

  assert {
    condition     = google_cloud_scheduler_job.job["sweep"].schedule == "* * * * *" && google_cloud_scheduler_job.job["cleanup"].schedule == "*/5 * * * *"
    error_message = "Sweep each minute, cleanup every five."
  }
  assert {
    condition     = alltrue([for job in google_cloud_scheduler_job.job : job.http_target[0].uri == job.http_target[0].oidc_token[0].audience && job.http_target[0].http_method == "POST"])
    error_message = "A job's token is made for the full URL."
  }
}

run "alerts" {
  command = plan

  assert {
    condition     = alltrue([for metric in google_logging_metric.log : alltrue([for name in keys(google_cloudfunctions2_function.function) : strcontains(metric.filter, "\"${name}\"")])])
    error_message = "Lines of every function are counted."
  }
  assert {
    condition     = strcontains(google_monitoring_alert_policy.log["not_loaded"].conditions[0].condition_threshold[0].filter, "plinth/not_loaded") && google_monitoring_alert_policy.log["not_loaded"].conditions[0].condition_threshold[0].threshold_value == 0
    error_message = "One function that cannot be loaded wakes somebody."
  }
}

run "a_setting_that_there_is_not" {
  command = plan
  variables { settings = { PLINTH_LIVING_PER_OWNR = "5" } }
  expect_failures = [var.settings]
}

run "a_setting_that_there_is" {
  command = plan
  variables { settings = { PLINTH_LIVING_PER_OWNER = "5" } }

  assert {
    condition     = google_cloudfunctions2_function.function["bootstraps"].service_config[0].environment_variables["PLINTH_LIVING_PER_OWNER"] == "5"
    error_message = "Settings reach the functions."
  }
}

run "sizes" {
  command = plan
  variables { sizes = { api = { min_instances = 1, memory = "1Gi" } } }

  assert {
    condition     = google_cloudfunctions2_function.function["api"].service_config[0].min_instance_count == 1 && google_cloudfunctions2_function.function["api"].service_config[0].available_memory == "1Gi" && google_cloudfunctions2_function.function["api"].service_config[0].max_instance_count == 10
    error_message = "What is given changes, what is not stays."
  }
}

run "no_parent" {
  command = plan
  variables { parents = [] }
  expect_failures = [var.parents]
}

run "no_caller" {
  command = plan
  variables { invokers = [] }
  expect_failures = [var.invokers]
}

run "a_budget" {
  command = plan
  variables { budget = { billing_account = "0123AB-4567CD-89EF01", own = 50, bootstraps = 500 } }

  assert {
    condition     = google_billing_budget.monthly["bootstraps"].amount[0].specified_amount[0].units == "500" && google_billing_budget.monthly["bootstraps"].budget_filter[0].resource_ancestors != null
    error_message = "The projects of bootstraps have a budget by their parents."
  }
}

run "no_budget" {
  command = plan

  assert {
    condition     = length(google_billing_budget.monthly) == 0
    error_message = "Budgets are for who asks for them."
  }
}

run "no_traces" {
  command = plan

  assert {
    condition     = length(google_project_iam_member.traces) == 0 && !contains(keys(google_project_service.api), "telemetry")
    error_message = "Who sends no traces needs neither role nor API for it."
  }
  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : !anytrue([for name in keys(f.service_config[0].environment_variables) : startswith(name, "OTEL_")])])
    error_message = "Traces are off unless they are asked for."
  }
}

run "traces" {
  command = plan
  variables { traces = true }

  assert {
    condition     = alltrue([for f in google_cloudfunctions2_function.function : f.service_config[0].environment_variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://telemetry.googleapis.com"])
    error_message = "All functions send their traces to Cloud Trace."
  }
  assert {
    condition     = keys(google_project_iam_member.traces) == keys(google_cloudfunctions2_function.function) && alltrue([for grant in google_project_iam_member.traces : grant.role == "roles/telemetry.tracesWriter"])
    error_message = "Each function may send traces, and no more."
  }
  assert {
    condition     = alltrue([for service in ["telemetry", "cloudtrace"] : contains(keys(google_project_service.api), service)])
    error_message = "Google drops what is sent where the Cloud Trace API is not enabled."
  }
}

run "traces_elsewhere" {
  command = plan
  variables { settings = { OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example.com" } }

  assert {
    condition     = google_cloudfunctions2_function.function["sweep"].service_config[0].environment_variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://collector.example.com" && length(google_project_iam_member.traces) == 0
    error_message = "A collector of one's own needs no role."
  }
}
