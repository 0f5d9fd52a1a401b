# Who is woken by what, and what is counted.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "time" {}

variables {
  alert_emails = ["on-call@example.com", "second@example.com"]
}

run "watching" {
  command = plan

  assert {
    condition = jsonencode({
      for key, alert in google_monitoring_alert_policy.log : key =>
      "${alert.display_name}: more than ${alert.conditions[0].condition_threshold[0].threshold_value} in ${alert.conditions[0].condition_threshold[0].aggregations[0].alignment_period}"
      }) == jsonencode({
      cleanup_failures = "plinth: cleanup can't remove: more than 2 in 900s"
      deaths           = "plinth: a step that functions die of: more than 0 in 300s"
      dry_pools        = "plinth: a pool is dry: more than 12 in 900s"
      fuse_failures    = "plinth: costs can't be found out: more than 0 in 300s"
      not_loaded       = "plinth: a function can't be loaded: more than 0 in 300s"
      poison           = "plinth: messages that are none of ours: more than 0 in 300s"
      quarantined      = "plinth: a removal that is left alone: more than 0 in 300s"
      resent           = "plinth: stuck steps: more than 12 in 900s"
      unknown          = "plinth: projects or machines of unknown origin: more than 0 in 300s"
    })
    error_message = "Each of these lines in a log wakes somebody, and no sooner."
  }
  assert {
    condition = alltrue([
      for key, alert in google_monitoring_alert_policy.log :
      alert.conditions[0].condition_threshold[0].filter == "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${google_logging_metric.log[key].name}\""
      && google_logging_metric.log[key].name == "plinth/${key}"
    ])
    error_message = "Each alert of the log is of the metric of its name."
  }
  assert {
    condition = jsonencode({
      for key, alert in google_monitoring_alert_policy.late : key => [alert.display_name, alert.conditions[0].condition_absent[0].duration, alert.conditions[0].condition_absent[0].filter]
      }) == jsonencode({
      for key in ["cleanup", "sweep"] : key => [
        "plinth: ${key} is late", "1200s",
        "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/request_count\" AND resource.label.service_name=\"${key}\" AND metric.label.response_code_class=\"2xx\"",
      ]
    })
    error_message = "Whoever is called by the clock is missed after 20 minutes."
  }
  assert {
    condition = (
      google_monitoring_alert_policy.scheduled_errors.display_name == "plinth: Cloud Scheduler is refused"
      && google_monitoring_alert_policy.scheduled_errors.conditions[0].condition_threshold[0].filter == "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/request_count\" AND metric.label.response_code_class!=\"2xx\" AND resource.label.service_name=one_of(\"cleanup\",\"sweep\")"
      && google_monitoring_alert_policy.scheduled_errors.conditions[0].condition_threshold[0].threshold_value == 2
      && google_monitoring_alert_policy.scheduled_errors.conditions[0].condition_threshold[0].aggregations[0].alignment_period == "900s"
    )
    error_message = "Three calls of the clock in a quarter of an hour that fail wake somebody."
  }
  assert {
    condition = (
      google_monitoring_alert_policy.server_errors.display_name == "plinth: answers of 5xx"
      && google_monitoring_alert_policy.server_errors.conditions[0].condition_threshold[0].filter == "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/request_count\" AND metric.label.response_code_class=\"5xx\" AND resource.label.service_name=one_of(\"api\",\"bootstraps\")"
      && google_monitoring_alert_policy.server_errors.conditions[0].condition_threshold[0].threshold_value == 5
      && google_monitoring_alert_policy.server_errors.conditions[0].condition_threshold[0].aggregations[0].alignment_period == "300s"
    )
    error_message = "Six answers of 5xx in five minutes wake somebody."
  }
  assert {
    condition = (
      google_monitoring_alert_policy.oldest_message.display_name == "plinth: messages wait"
      && google_monitoring_alert_policy.oldest_message.conditions[0].condition_threshold[0].filter == "resource.type=\"pubsub_subscription\" AND metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\" AND resource.label.subscription_id=starts_with(\"eventarc-\")"
      && google_monitoring_alert_policy.oldest_message.conditions[0].condition_threshold[0].comparison == "COMPARISON_GT"
      && google_monitoring_alert_policy.oldest_message.conditions[0].condition_threshold[0].threshold_value == 1200
      && google_monitoring_alert_policy.oldest_message.conditions[0].condition_threshold[0].aggregations[0].per_series_aligner == "ALIGN_MAX"
    )
    error_message = "A message that waits for more than 20 minutes wakes somebody."
  }
  assert {
    condition = (
      google_monitoring_alert_policy.host_lane_busy.display_name == "plinth: the host lane is nearly full"
      && google_monitoring_alert_policy.host_lane_busy.conditions[0].condition_threshold[0].filter == "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/container/max_request_concurrencies\" AND metric.label.state=\"active\" AND resource.label.service_name=\"run-host-step\""
      && google_monitoring_alert_policy.host_lane_busy.conditions[0].condition_threshold[0].comparison == "COMPARISON_GT"
      && google_monitoring_alert_policy.host_lane_busy.conditions[0].condition_threshold[0].threshold_value == floor(google_cloudfunctions2_function.function["run-host-step"].service_config[0].max_instance_request_concurrency * 0.8)
      && google_monitoring_alert_policy.host_lane_busy.conditions[0].condition_threshold[0].duration == "600s"
    )
    error_message = "A host lane that is full by more than four fifths for ten minutes wakes somebody."
  }
  assert {
    condition = alltrue([
      for alert in concat(values(google_monitoring_alert_policy.log), [google_monitoring_alert_policy.scheduled_errors, google_monitoring_alert_policy.server_errors]) :
      alert.conditions[0].condition_threshold[0].comparison == "COMPARISON_GT" && alert.conditions[0].condition_threshold[0].duration == "0s"
      && alert.conditions[0].condition_threshold[0].aggregations[0].per_series_aligner == "ALIGN_SUM"
    ])
    error_message = "A sum that is above its threshold wakes somebody at once."
  }
  assert {
    condition = alltrue([
      for alert in concat(values(google_monitoring_alert_policy.log), values(google_monitoring_alert_policy.late), [google_monitoring_alert_policy.scheduled_errors, google_monitoring_alert_policy.server_errors, google_monitoring_alert_policy.oldest_message, google_monitoring_alert_policy.host_lane_busy]) :
      length(alert.notification_channels) == 2 && alert.enabled != false && length(alert.documentation[0].content) > 80
      && can(regex("Runbook: docs/operate/runbooks\\.md#[a-z-]+$", alert.documentation[0].content))
    ])
    error_message = "Each alert reaches everybody who is to hear of it, says what to do, and names its runbook."
  }
  assert {
    condition     = jsonencode({ for email, channel in google_monitoring_notification_channel.email : email => [channel.type, channel.labels["email_address"]] }) == jsonencode({ for email in ["on-call@example.com", "second@example.com"] : email => ["email", email] })
    error_message = "Whoever is to hear of alerts has a channel."
  }

  # What is counted.
  assert {
    condition = jsonencode({ for key, metric in google_logging_metric.log : key => regex("severity=([A-Z]+)", metric.filter)[0] }) == jsonencode({
      cleanup_failures = "ERROR"
      deaths           = "ERROR"
      dry_pools        = "WARNING"
      fuse_failures    = "ERROR"
      interrupted      = "ERROR"
      not_loaded       = "CRITICAL"
      poison           = "ERROR"
      quarantined      = "ERROR"
      resent           = "INFO"
      unknown          = "WARNING"
    })
    error_message = "Each of these is counted."
  }
  assert {
    condition = alltrue([
      for metric in google_logging_metric.log : strcontains(metric.filter, join(" OR ", [for name in keys(google_cloudfunctions2_function.function) : "\"${name}\""]))
      && metric.metric_descriptor[0].metric_kind == "DELTA" && metric.metric_descriptor[0].value_type == "INT64"
      && metric.label_extractors["function"] == "EXTRACT(resource.labels.service_name)"
    ])
    error_message = "What is counted is counted in all functions, by function."
  }

  # What is seen.
  assert {
    condition = join(", ", [for tile in jsondecode(google_monitoring_dashboard.plinth.dashboard_json).mosaicLayout.tiles : tile.widget.title]) == join(", ", concat(
      ["Requests by function", "5xx by function", "Instances by function", "Messages not yet acknowledged", "Age of the oldest message not yet acknowledged", "Busy places of the host lane, by instance"],
      [for metric in google_logging_metric.log : metric.description],
    ))
    error_message = "One screen shows the load and all that is counted."
  }
  assert {
    condition = alltrue([
      for i, metric in values(google_logging_metric.log) :
      endswith(jsondecode(google_monitoring_dashboard.plinth.dashboard_json).mosaicLayout.tiles[6 + i].widget.xyChart.dataSets[0].timeSeriesQuery.timeSeriesFilter.filter, "/user/${metric.name}\"")
    ])
    error_message = "A tile shows the metric that its title tells of."
  }
  assert {
    condition     = length(distinct([for tile in jsondecode(google_monitoring_dashboard.plinth.dashboard_json).mosaicLayout.tiles : "${try(tile.xPos, 0)} ${try(tile.yPos, 0)}"])) == 6 + length(google_logging_metric.log)
    error_message = "No tile hides another."
  }
}
