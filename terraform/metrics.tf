# What is counted in the functions' logs. The texts are those that the functions write; a test compares the two.

locals {
  # Cloud Logging keeps a line with nothing but a message as text, any other as JSON.
  log_metrics = {
    poison = {
      description = "Messages that are none of ours, and were dropped."
      severity    = "ERROR"
      pattern     = "^A message that is none of ours was dropped"
    }
    deaths = {
      description = "Steps that a function died of as often as it may."
      severity    = "ERROR"
      pattern     = "^The function ended [0-9]+ times while it ran this instance"
    }
    interrupted = {
      description = "Steps that were not run to a border, and are taken up by sweep."
      severity    = "ERROR"
      pattern     = "was not run to a border; sweep takes it up"
    }
    resent = {
      description = "Runs of sweep that found something due."
      severity    = "INFO"
      pattern     = "^Sent [0-9]+ instances again"
    }
    cleanup_failures = {
      description = "Projects that cleanup could not look at, judge, or hand to teardown."
      severity    = "ERROR"
      pattern     = "could not be (handed to teardown|looked at|judged)$"
    }
    quarantined = {
      description = "Removals that failed as often as they are tried, and were left alone."
      severity    = "ERROR"
      pattern     = "^The removal of .+ failed [0-9]+ times in a row and is left alone$"
    }
    fuse_failures = {
      description = "Bootstraps whose costs could not be found out, each told once an hour."
      severity    = "ERROR"
      pattern     = "^What .+ costs could not be found out$"
    }
    unknown = {
      description = "Projects and machines that no record or plan holds, each told once."
      severity    = "WARNING"
      pattern     = "(bears the labels of this deployment, and no record knows it|machines that no plan holds)$"
    }
    dry_pools = {
      description = "Runs of sweep that found a pool without a project to give."
      severity    = "WARNING"
      pattern     = "^Dry pools of prepared projects: "
    }
    not_loaded = {
      description = "Functions that cannot be loaded: faulty settings, a broken release."
      severity    = "CRITICAL"
      pattern     = "^The function cannot be loaded"
    }
  }
}

resource "google_logging_metric" "log" {
  for_each = local.log_metrics

  project     = var.project_id
  name        = "plinth/${each.key}"
  description = each.value.description
  filter      = <<-EOT
    resource.type="cloud_run_revision"
    resource.labels.service_name=(${join(" OR ", [for name in keys(local.function_table) : "\"${name}\""])})
    severity=${each.value.severity}
    (jsonPayload.message=~"${each.value.pattern}" OR textPayload=~"${each.value.pattern}")
  EOT

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
    unit        = "1"
    labels {
      key         = "function"
      value_type  = "STRING"
      description = "The function that wrote it."
    }
  }

  label_extractors = {
    function = "EXTRACT(resource.labels.service_name)"
  }

  depends_on = [time_sleep.apis]
}

# Cloud Monitoring refuses an alert of a metric that it can't see yet: up to ten minutes, by its own words.
resource "time_sleep" "metrics" {
  create_duration = "600s"
  triggers        = { for name, metric in google_logging_metric.log : name => metric.name }
}
